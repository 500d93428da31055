package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/utils/lru"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

const (
	// remembered is the number of images whose content a Reader keeps in memory.
	remembered = 64
	// rememberedAnswers is the number of questions for which a Reader keeps the last answer: a digest or an error.
	rememberedAnswers = 4096
)

// Reader reads images. It is safe for concurrent use.
type Reader struct {
	options Options
	through *roundTripper

	known      *lru.Cache // knownKey → *content
	answers    *lru.Cache // question → *answer
	challenges *lru.Cache // host → *transport.Challenge

	mu      sync.Mutex
	flights map[flightKey]*flight
}

// knownKey is the key of remembered content. It contains the repository and the credentials, so that no caller receives
// content that was read from another repository or with other credentials, even if the digest is the same.
type knownKey struct {
	provider    bool
	repository  string
	credentials [sha256.Size]byte
	digest      v1.Hash
}

// content is the content of a digest: an image without its Digest, or the reason why it cannot be used.
type content struct {
	image *Image
	err   error
}

// New returns a reader.
func New(options Options) *Reader {
	options = options.normal()
	return &Reader{
		options: options, through: newTransport(options), flights: map[flightKey]*flight{},
		known: lru.New(remembered), answers: lru.New(rememberedAnswers), challenges: lru.New(rememberedRegistries),
	}
}

// Close closes idle connections.
func (r *Reader) Close() { r.through.close() }

// Read reads an image with the caller's credentials. For an image with a tag, it always requests the digest of the tag
// from the registry. For an image with a digest, it sends no request while it remembers the content that it read from
// the same repository with the same credentials. Lasting and Transient classify its errors. No error contains text that
// a remote host wrote.
func (r *Reader) Read(ctx context.Context, image string, credentials authn.Keychain) (*Image, error) {
	read := r.ask(ctx, image, credentials, question{}, ages{})
	return read.image, read.err
}

// ReadProvider reads the image of an external provider, and returns only its digest and the value of its label
// LabelProvider. It returns the same errors as Read.
func (r *Reader) ReadProvider(ctx context.Context, image string, credentials authn.Keychain) (*Image, error) {
	read := r.ask(ctx, image, credentials, question{provider: true}, ages{})
	return read.image, read.err
}

// ask answers a question about an image. It tries the repositories of the image, such as its mirrors, in order, until
// one of them has the image. Each repository gets its share of the time.
func (r *Reader) ask(
	ctx context.Context, image string, credentials authn.Keychain, of question, old ages,
) (read reading) {
	refs, err := r.references(image)
	switch {
	case err != nil && of.digest:
		return reading{err: of.failed(image, err)}
	case err != nil:
		return reading{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.timeout())
	defer cancel()
	end, _ := ctx.Deadline()
	var failed mirrorsError
	for i, ref := range refs {
		read = r.askPlace(ctx, time.Until(end)/time.Duration(len(refs)-i), ref, credentials, of, old)
		if read.err == nil {
			return read
		}
		failed = append(failed, placeError{place: ref.Context().Name(), err: read.err})
		if ofContent(read.err) || ctx.Err() != nil {
			break // the other places have the same content, or the caller no longer waits
		}
	}
	read.err = of.failed(image, failed.orOnly())
	return read
}

// askPlace answers a question about an image in one repository.
func (r *Reader) askPlace(
	ctx context.Context, timeout time.Duration, ref name.Reference, credentials authn.Keychain, of question, old ages,
) reading {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	one, err := r.newLookup(ctx, ref, credentials, of)
	if err != nil {
		return reading{err: err}
	}
	return r.together(ctx, one.of, func() reading { return one.do(ctx, old) })
}

// newLookup returns the lookup for a question about a reference, with the credentials for its repository.
func (r *Reader) newLookup(
	ctx context.Context, ref name.Reference, keychain authn.Keychain, of question,
) (*lookup, error) {
	auth, err := authn.Resolve(ctx, keychain, ref.Context())
	if err != nil {
		return nil, err
	}
	auth, of.name = r.options.orIdentity(auth, ref.Context()), ref.Name()
	of.credentials, err = fingerprint(ctx, auth)
	return &lookup{reader: r, of: of, ref: ref, auth: auth}, err
}

// repositories returns the names of the repositories from which images can be read. It leaves out images that must not
// be read.
func (r *Reader) repositories(images ...string) []string {
	names := []string{}
	for _, image := range images {
		refs, err := r.references(image)
		if err != nil {
			continue // the read of this image reports the error
		}
		for _, ref := range refs {
			if name := ref.Context().String(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// fingerprint identifies credentials in memory.
func fingerprint(ctx context.Context, auth authn.Authenticator) ([sha256.Size]byte, error) {
	if own, ok := auth.(*identity); ok {
		return sha256.Sum256([]byte("identity " + own.cloud)), nil
	}
	config, err := authn.Authorization(ctx, auth)
	if err != nil {
		return [sha256.Size]byte{}, errors.New("the credentials cannot be used")
	}
	content, err := json.Marshal(config)
	if err != nil {
		return [sha256.Size]byte{}, errors.New("the credentials cannot be used")
	}
	return sha256.Sum256(content), nil
}

// reference returns the reference to try first.
func (r *Reader) reference(image string) (name.Reference, error) {
	refs, err := r.references(image)
	if err != nil {
		return nil, err
	}
	return refs[0], nil
}

// references returns the references to try, in order, until one has the image.
func (r *Reader) references(image string) ([]name.Reference, error) {
	written, err := name.ParseReference(image)
	if err != nil {
		return nil, fmt.Errorf("parse image %q: %w", image, err)
	}
	repository, err := imagename.Repository(image)
	if err != nil {
		return nil, err
	}
	_, pinned := written.(name.Digest)
	places := r.options.places(repository, pinned)
	if len(places) == 0 {
		return nil, &RefusedError{Repository: imagename.Familiar(repository), Mirrored: true}
	}
	refs, err := r.allowed(places, written.Identifier(), pinned)
	if err == nil && len(refs) == 0 {
		err = &RefusedError{Repository: imagename.Familiar(places[0])}
	}
	return refs, err
}

// allowed returns references to a tag, or to a digest if pinned is true, in the places that may be read.
func (r *Reader) allowed(places []string, identifier string, pinned bool) ([]name.Reference, error) {
	var refs []name.Reference
	for _, place := range places {
		asked, err := r.repository(place)
		switch {
		case err != nil:
			return nil, err
		case !r.options.allows(asked.Name()):
			continue
		case pinned:
			refs = append(refs, asked.Digest(identifier))
		default:
			refs = append(refs, asked.Tag(identifier))
		}
	}
	return refs, nil
}

// repository returns the repository to read.
func (r *Reader) repository(place string) (name.Repository, error) {
	asked, err := name.NewRepository(place)
	if err == nil && r.options.isInsecure(asked.RegistryStr()) {
		asked, err = name.NewRepository(place, name.Insecure)
	}
	if err != nil {
		return asked, fmt.Errorf("parse the rewritten repository %q: %w", place, err)
	}
	return asked, nil
}
