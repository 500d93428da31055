package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/utils/lru"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
)

// remembered is how many images' labels are kept in memory.
const remembered = 64

// Reader reads images. It is for use by many goroutines.
type Reader struct {
	options Options
	through *roundTripper

	known *lru.Cache // knownKey → *Image without its Digest
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

// New makes a reader.
func New(options Options) *Reader {
	options = options.normal()
	return &Reader{options: options, through: newTransport(options), known: lru.New(remembered)}
}

// Close ends idle connections.
func (r *Reader) Close() { r.through.close() }

// Read reads an image with somebody's credentials. A *RefusedError or a *LabelError
// stays until something changes; Transient reports of any other error whether another
// attempt may help. No error holds anything that a remote host wrote.
func (r *Reader) Read(ctx context.Context, image string, credentials authn.Keychain) (*Image, error) {
	return r.readAs(ctx, image, credentials, false)
}

// ReadProvider reads the image of an external provider, of which nothing but digest and label are known then. Its errors
// are those of Read.
func (r *Reader) ReadProvider(ctx context.Context, image string, credentials authn.Keychain) (*Image, error) {
	return r.readAs(ctx, image, credentials, true)
}

func (r *Reader) readAs(ctx context.Context, image string, credentials authn.Keychain, provider bool) (*Image, error) {
	ref, err := r.reference(image)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.timeout())
	defer cancel()
	found, err := r.read(ctx, ref, credentials, provider)
	if err != nil {
		return nil, fmt.Errorf("read image %q: %w", image, err)
	}
	return found, nil
}

// read asks the registry for the name each time, whatever is known of the digest that
// it stands for: the answer says that these credentials may read it.
func (r *Reader) read(ctx context.Context, ref name.Reference, keychain authn.Keychain, provider bool) (*Image, error) {
	repository := ref.Context()
	auth, err := authn.Resolve(ctx, keychain, repository)
	if err != nil {
		return nil, err
	}
	key := knownKey{repository: repository.Name(), provider: provider}
	if key.credentials, err = fingerprint(ctx, auth); err != nil {
		return nil, err
	}
	session, err := connect(ctx, repository, auth, r.through)
	if err != nil {
		return nil, err
	}
	way := &trail{from: session}
	top, digest, err := way.manifest(ctx, ref.Identifier())
	if err != nil {
		return nil, err
	}
	key.digest = digest
	found, ok := r.known.Get(key)
	if !ok {
		if found, err = r.follow(ctx, way, top, provider); err != nil {
			return nil, err
		}
		r.known.Add(key, found)
	}
	result := *found.(*Image)
	result.Digest = digest.String()
	return &result, nil
}

// fingerprint tells credentials apart in memory.
func fingerprint(ctx context.Context, auth authn.Authenticator) ([sha256.Size]byte, error) {
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

// Transient reports whether the same read may succeed a while later: the registry is not
// reached, or in trouble, or has had enough of us. What it refuses, or does not
// have, may change too, but nobody knows when.
func Transient(err error) bool {
	var label *LabelError
	var refused *RefusedError
	var limit *limitError
	if errors.As(err, &label) || errors.As(err, &refused) || errors.As(err, &limit) {
		return false
	}
	for _, lasting := range []error{errPlainHTTP, errLocalAddress, errNoPlatform, errTooMany} {
		if errors.Is(err, lasting) {
			return false
		}
	}
	var answer *answerError
	if !errors.As(err, &answer) {
		return true
	}
	switch answer.status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return false
	default:
		return true
	}
}
