package registry

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// lookup gets the answer to a question, either from memory or from the registry.
type lookup struct {
	reader *Reader
	of     question
	ref    name.Reference
	auth   authn.Authenticator
}

// do returns an answer from memory if the answer is new enough, or if the name contains a digest whose content is in
// memory, because such content never changes. Otherwise, it sends a request to the registry.
func (l *lookup) do(ctx context.Context, old ages) reading {
	if l.of.digest {
		return l.doDigest(ctx, old)
	}
	if pinned, err := v1.NewHash(l.ref.Identifier()); err == nil {
		if found, ok := l.known(pinned); ok {
			return result(pinned, found, time.Now())
		}
	}
	last := l.last()
	if last != nil && old.fits(last) {
		if last.err != nil {
			return reading{err: last.err, asked: last.at}
		}
		if found, ok := l.known(last.digest); ok {
			return result(last.digest, found, last.at)
		}
	}
	var found *content
	said := l.answer(ctx, func(ctx context.Context) (digest v1.Hash, err error) {
		digest, found, err = l.ask(ctx, last)
		return digest, err
	})
	if said.err != nil {
		return reading{err: said.err, asked: said.at}
	}
	l.reader.answers.Add(question{digest: true, name: l.of.name, credentials: l.of.credentials}, said)
	return result(said.digest, found, said.at)
}

// doDigest returns the digest that a tag refers to, from memory if the answer is new enough, and otherwise from the
// registry.
func (l *lookup) doDigest(ctx context.Context, old ages) reading {
	said := l.last()
	if said == nil || !old.fits(said) {
		said = l.answer(ctx, l.askDigest)
	}
	if said.err != nil {
		return reading{err: said.err, asked: said.at}
	}
	return reading{image: &Image{Digest: said.digest.String()}, asked: said.at}
}

// askDigest requests the digest. It requests the manifest only if the registry does not return the digest alone.
func (l *lookup) askDigest(ctx context.Context) (v1.Hash, error) {
	session, err := l.reader.connect(ctx, l.ref.Context(), l.auth)
	if err != nil {
		return v1.Hash{}, err
	}
	digest, told, err := session.digest(ctx, l.ref.Identifier())
	if err != nil || told {
		return digest, err
	}
	_, digest, err = (&trail{from: session}).manifest(ctx, l.ref.Identifier())
	if err != nil && !ofContent(err) {
		return v1.Hash{}, err
	}
	return digest, nil
}

// answer calls the function `ask`, and remembers the result unless the context is canceled. If the registry rejects the
// credentials and the challenge was in memory, answer drops the challenge and calls `ask` again.
func (l *lookup) answer(ctx context.Context, ask func(context.Context) (v1.Hash, error)) *answer {
	ctx, wanted := withWanted(ctx)
	registry := l.ref.Context().RegistryStr()
	_, remembered := l.reader.challenges.Get(registry)
	digest, err := ask(ctx)
	if statusOf(err) == http.StatusUnauthorized && remembered { // the registry's challenge may have changed
		l.reader.challenges.Remove(registry)
		digest, err = ask(ctx)
	}
	said := &answer{at: time.Now(), digest: digest, err: wanted.with(err)}
	if code := statusOf(err); err != nil && (code == 0 || code == http.StatusUnauthorized) {
		l.reader.challenges.Remove(registry)
	}
	if !errors.Is(err, context.Canceled) {
		l.reader.answers.Add(l.of, said)
	}
	return said
}

func result(digest v1.Hash, found *content, asked time.Time) reading {
	if found.err != nil {
		return reading{err: found.err, asked: asked}
	}
	image := *found.image
	image.Digest = digest.String()
	return reading{image: &image, asked: asked}
}

// last returns the last answer to the question.
func (l *lookup) last() *answer {
	if said, ok := l.reader.answers.Get(l.of); ok {
		return said.(*answer)
	}
	return nil
}

func (l *lookup) key(digest v1.Hash) knownKey {
	return knownKey{
		provider: l.of.provider, repository: l.ref.Context().Name(), credentials: l.of.credentials,
		digest: digest,
	}
}

// known returns the remembered content of a digest.
func (l *lookup) known(digest v1.Hash) (*content, bool) {
	if found, ok := l.reader.known.Get(l.key(digest)); ok {
		return found.(*content), true
	}
	return nil, false
}

// ask sends a request for the name even if the content of the last digest is known, because only the registry's answer
// shows that these credentials may read the image.
func (l *lookup) ask(ctx context.Context, last *answer) (v1.Hash, *content, error) {
	session, err := l.reader.connect(ctx, l.ref.Context(), l.auth)
	if err != nil {
		return v1.Hash{}, nil, err
	}
	if last != nil && last.err == nil {
		if found, ok := l.known(last.digest); ok {
			digest, told, err := session.digest(ctx, l.ref.Identifier())
			if err != nil || told && digest == last.digest {
				return digest, found, err
			}
		}
	}
	way := &trail{from: session}
	top, digest, err := way.manifest(ctx, l.ref.Identifier())
	if err != nil && !ofContent(err) {
		return v1.Hash{}, nil, err
	}
	if found, ok := l.known(digest); ok {
		return digest, found, nil
	}
	var image *Image
	if err == nil {
		image, err = l.reader.follow(ctx, way, top, l.of.provider)
	}
	if err != nil && !ofContent(err) {
		return v1.Hash{}, nil, err
	}
	found := &content{image: image, err: err}
	l.reader.known.Add(l.key(digest), found)
	return digest, found, nil
}
