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
	if pinned, err := v1.NewHash(l.ref.Identifier()); err == nil && !l.of.digest {
		if found := l.known(pinned); found != nil {
			return result(&answer{at: time.Now(), digest: pinned}, found)
		}
	}
	last := l.last()
	if last != nil && old.fits(last) {
		if found := l.known(last.digest); found != nil || last.err != nil || l.of.digest {
			return result(last, found)
		}
	}
	said, found := l.answer(ctx, last)
	if said.err == nil && !l.of.digest {
		l.reader.answers.Add(question{digest: true, name: l.of.name, credentials: l.of.credentials}, said)
	}
	return result(said, found)
}

// answer asks the registry, and remembers the answer unless the context is canceled. If the registry rejects the
// credentials and the challenge was in memory, answer drops the challenge and asks again.
func (l *lookup) answer(ctx context.Context, last *answer) (*answer, *content) {
	ctx, wanted := withWanted(ctx)
	registry := l.ref.Context().RegistryStr()
	_, remembered := l.reader.challenges.Get(registry)
	digest, found, err := l.ask(ctx, last)
	if statusOf(err) == http.StatusUnauthorized && remembered { // the registry's challenge may have changed
		l.reader.challenges.Remove(registry)
		digest, found, err = l.ask(ctx, last)
	}
	said := &answer{at: time.Now(), digest: digest, err: wanted.with(err)}
	if code := statusOf(err); err != nil && (code == 0 || code == http.StatusUnauthorized) {
		l.reader.challenges.Remove(registry)
	}
	if !errors.Is(err, context.Canceled) {
		l.reader.answers.Add(l.of, said)
	}
	return said, found
}

// result returns the reading for an answer. The parameter found is the content of the digest. It is nil if only the
// digest was requested.
func result(said *answer, found *content) reading {
	err := said.err
	if err == nil && found != nil {
		err = found.err
	}
	if err != nil {
		return reading{err: err, asked: said.at}
	}
	image := Image{}
	if found != nil {
		image = *found.image
	}
	image.Digest = said.digest.String()
	return reading{image: &image, asked: said.at}
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

// known returns the remembered content of a digest, or nil.
func (l *lookup) known(digest v1.Hash) *content {
	if found, ok := l.reader.known.Get(l.key(digest)); ok {
		return found.(*content)
	}
	return nil
}

// ask sends a request for the name even if the content of the last digest is known, because only the registry's answer
// shows that these credentials may read the image. It requests the manifest only if the content is not known, or if the
// registry does not return the digest alone.
func (l *lookup) ask(ctx context.Context, last *answer) (v1.Hash, *content, error) {
	session, err := l.reader.connect(ctx, l.ref.Context(), l.auth)
	if err != nil {
		return v1.Hash{}, nil, err
	}
	var known *content
	if last != nil && last.err == nil && !l.of.digest {
		known = l.known(last.digest)
	}
	if known != nil || l.of.digest {
		digest, told, err := session.digest(ctx, l.ref.Identifier())
		if err != nil || told && (l.of.digest || digest == last.digest) {
			return digest, known, err
		}
	}
	way := &trail{from: session}
	top, digest, err := way.manifest(ctx, l.ref.Identifier())
	switch {
	case err != nil && !ofContent(err):
		return v1.Hash{}, nil, err
	case l.of.digest:
		return digest, nil, nil
	}
	if found := l.known(digest); found != nil {
		return digest, found, nil
	}
	var image *Image
	if err == nil {
		image, err = way.follow(ctx, top, l.reader.options.platform(), l.of.provider)
	}
	if err != nil && !ofContent(err) {
		return v1.Hash{}, nil, err
	}
	found := &content{image: image, err: err}
	l.reader.known.Add(l.key(digest), found)
	return digest, found, nil
}
