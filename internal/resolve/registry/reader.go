package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/utils/lru"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

const (
	// remembered is how many images' labels are kept in memory.
	remembered = 64
	// rememberedAnswers is for how many questions the last answer is kept: a digest or an error.
	rememberedAnswers = 4096
)

// Reader reads images. It is for use by many goroutines.
type Reader struct {
	options Options
	through *roundTripper

	known      *lru.Cache // knownKey → *content
	answers    *lru.Cache // question → *answer
	challenges *lru.Cache // host → *transport.Challenge

	mu      sync.Mutex
	flights map[question]*flight
}

// knownKey is what has to be the same for an image to be known: nobody gets an answer
// that came from another registry or that others' credentials opened, even though
// everything that is kept has its digest.
type knownKey struct {
	provider    bool
	repository  string
	credentials [sha256.Size]byte
	digest      v1.Hash
}

// content is what a digest stands for: an image without its Digest, or why it is of no use.
type content struct {
	image *Image
	err   error
}

// New makes a reader.
func New(options Options) *Reader {
	options = options.normal()
	return &Reader{
		options: options, through: newTransport(options), flights: map[question]*flight{},
		known: lru.New(remembered), answers: lru.New(rememberedAnswers), challenges: lru.New(rememberedRegistries),
	}
}

// Close ends idle connections.
func (r *Reader) Close() { r.through.close() }

// Read reads an image with somebody's credentials. It asks the registry what a tag stands for, and asks nothing about a
// digest that it read for the same repository with the same credentials. Lasting and Transient tell failures apart. No
// error holds anything that a remote host wrote.
func (r *Reader) Read(ctx context.Context, image string, credentials authn.Keychain) (*Image, error) {
	read := r.readAs(ctx, image, credentials, false, ages{})
	return read.image, read.err
}

// ReadProvider reads the image of an external provider, of which nothing but digest and label are known then. Its errors
// are those of Read.
func (r *Reader) ReadProvider(ctx context.Context, image string, credentials authn.Keychain) (*Image, error) {
	read := r.readAs(ctx, image, credentials, true, ages{})
	return read.image, read.err
}

func (r *Reader) readAs(ctx context.Context, image string, credentials authn.Keychain, provider bool, old ages) reading {
	ref, err := r.reference(image)
	if err != nil {
		return reading{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.timeout())
	defer cancel()
	read := r.read(ctx, ref, credentials, provider, old)
	if read.err != nil {
		read.err = fmt.Errorf("read image %q: %w", image, read.err)
	}
	return read
}

// read gives what is known of a name, or asks the registry for it.
func (r *Reader) read(ctx context.Context, ref name.Reference, keychain authn.Keychain, provider bool, old ages) reading {
	auth, err := authn.Resolve(ctx, keychain, ref.Context())
	if err != nil {
		return reading{err: err}
	}
	auth = r.options.orIdentity(auth, ref.Context())
	asked := question{provider: provider, name: ref.Name()}
	if asked.credentials, err = fingerprint(ctx, auth); err != nil {
		return reading{err: err}
	}
	one := &lookup{reader: r, of: asked, ref: ref, auth: auth}
	return r.together(ctx, asked, func() reading { return one.do(ctx, old) })
}

// digestAs asks what a tag stands for. Nothing but the digest is known of the image then.
func (r *Reader) digestAs(ctx context.Context, image string, auth authn.Authenticator, old ages) reading {
	ref, err := r.reference(image)
	if err != nil {
		return reading{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.timeout())
	defer cancel()
	auth = r.options.orIdentity(auth, ref.Context())
	asked := question{digest: true, name: ref.Name()}
	if asked.credentials, err = fingerprint(ctx, auth); err != nil {
		return reading{err: err}
	}
	one := &lookup{reader: r, of: asked, ref: ref, auth: auth}
	read := r.together(ctx, asked, func() reading { return one.doDigest(ctx, old) })
	if read.err != nil {
		read.err = fmt.Errorf("compare image %q: %w", image, read.err)
	}
	return read
}

// authenticator is what a keychain has for the place where an image is read: authn.Anonymous where it has nothing. Whether
// the operator's own identity counts then is found out each time, by the options of that time.
func (r *Reader) authenticator(ctx context.Context, image string, keychain authn.Keychain) (authn.Authenticator, error) {
	ref, err := r.reference(image)
	if err != nil {
		return nil, err
	}
	return authn.Resolve(ctx, keychain, ref.Context())
}

// fingerprint tells credentials apart in memory.
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

// follow reads what the manifest, or the index, of an image leads to.
func (r *Reader) follow(ctx context.Context, way *trail, top *manifest, provider bool) (*Image, error) {
	single, _, err := forPlatform(ctx, way, top, r.options.platform())
	if err != nil {
		return nil, err
	}
	config, err := readImageConfig(ctx, single, way.config)
	if err != nil {
		return nil, err
	}
	if provider {
		label, err := config.provider(ctx)
		return &Image{Provider: label}, err
	}
	return contentOf(ctx, single, config, way.layer)
}

// reference is what to ask a registry for.
func (r *Reader) reference(image string) (name.Reference, error) {
	written, err := name.ParseReference(image)
	if err != nil {
		return nil, fmt.Errorf("parse image %q: %w", image, err)
	}
	repository, err := imagename.Repository(image)
	if err != nil {
		return nil, err
	}
	repository = r.options.rewrite(repository)
	asked, err := name.NewRepository(repository)
	if err == nil && r.options.isInsecure(asked.RegistryStr()) {
		asked, err = name.NewRepository(repository, name.Insecure)
	}
	if err != nil {
		return nil, fmt.Errorf("parse rewritten repository %q: %w", repository, err)
	}
	if !r.options.allows(asked.Name()) {
		return nil, &RefusedError{Repository: imagename.Familiar(asked.Name())}
	}
	if _, pinned := written.(name.Digest); pinned {
		return asked.Digest(written.Identifier()), nil
	}
	return asked.Tag(written.Identifier()), nil
}
