package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"
)

// remembered is how many images' labels are kept in memory.
const remembered = 64

// Reader reads images. It is for use by many goroutines.
type Reader struct {
	options Options
	through *roundTripper

	known   *lru.Cache // digest of a single image → *Image without its Digest
	reading singleflight.Group
}

// New makes a reader.
func New(options Options) *Reader {
	return &Reader{options: options, through: newTransport(options), known: lru.New(remembered)}
}

// Close ends idle connections.
func (r *Reader) Close() { r.through.close() }

// Read reads an image with somebody's credentials. A *RefusedError or a *LabelError
// stays until something changes; Passing tells of any other error whether another
// attempt may help.
func (r *Reader) Read(ctx context.Context, image string, credentials authn.Keychain) (*Image, error) {
	ref, err := r.reference(image)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, r.options.timeout())
	defer cancel()
	// The registry says that these credentials may read this name, whatever is known
	// of the digest that it stands for.
	descriptor, err := remote.Get(ref, r.with(ctx, credentials)...)
	if err != nil {
		return nil, fmt.Errorf("read image %q: %w", image, err)
	}
	single, err := descriptor.Image()
	if err != nil {
		return nil, fmt.Errorf("read image %q for %s: %w", image, r.options.platform().String(), err)
	}
	digest, err := single.Digest()
	if err != nil {
		return nil, fmt.Errorf("read image %q: %w", image, err)
	}
	found, err := r.content(digest, single)
	if err != nil {
		return nil, fmt.Errorf("read image %q: %w", image, err)
	}
	result := *found
	result.Digest = descriptor.Digest.String()
	return &result, nil
}

// reference is what to ask a registry for.
func (r *Reader) reference(image string) (name.Reference, error) {
	written, err := name.ParseReference(image, name.WithDefaultTag(""))
	if err != nil {
		return nil, fmt.Errorf("parse image %q: %w", image, err)
	}
	repository := r.options.rewrite(written.Context().Name())
	if !r.options.allows(repository) {
		return nil, &RefusedError{Repository: repository}
	}
	var options []name.Option
	asked, err := name.NewRepository(repository)
	if err != nil {
		return nil, fmt.Errorf("parse rewritten repository %q: %w", repository, err)
	}
	if r.options.isInsecure(asked.RegistryStr()) {
		options = append(options, name.Insecure)
	}
	separator := ":"
	if _, pinned := written.(name.Digest); pinned {
		separator = "@"
	}
	identifier := written.Identifier()
	if identifier == "" {
		identifier = name.DefaultTag
	}
	ref, err := name.ParseReference(repository+separator+identifier, options...)
	if err != nil {
		return nil, fmt.Errorf("parse image %q: %w", image, err)
	}
	return ref, nil
}

func (r *Reader) with(ctx context.Context, credentials authn.Keychain) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(credentials), remote.WithTransport(r.through),
		remote.WithPlatform(r.options.platform()), remote.WithUserAgent("llama-stack-k8s-operator"),
		// Whoever asks comes back later; a registry in trouble is not asked at once again.
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}), remote.WithRetryStatusCodes(),
	}
}

// content is what an image says, read once for a digest.
func (r *Reader) content(digest v1.Hash, image v1.Image) (*Image, error) {
	if found, ok := r.known.Get(digest); ok {
		return found.(*Image), nil
	}
	found, err, _ := r.reading.Do(digest.String(), func() (any, error) { return read(image) })
	if err != nil {
		return nil, err
	}
	r.known.Add(digest, found)
	return found.(*Image), nil
}

func read(image v1.Image) (*Image, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read its configuration: %w", err)
	}
	labels := config.Config.Labels
	result := &Image{Entrypoint: entrypoint(config.Config)}
	for _, label := range []string{LabelRelease, LabelImageVersion} {
		if labels[label] != "" {
			result.Release, result.ReleaseLabel = labels[label], label
			break
		}
	}
	from, err := configSource(labels)
	if err != nil || from == nil {
		return result, err
	}
	result.ConfigLabel, result.Config = from.label, from.data
	if from.file != "" {
		result.Config, err = fromLayer(image, from)
	}
	return result, err
}

// maxEntrypoint is how many bytes an entrypoint may have to be worth remembering.
const maxEntrypoint = 4 << 10

func entrypoint(config v1.Config) []string {
	size := 0
	for _, argument := range config.Entrypoint {
		size += len(argument)
	}
	if len(config.Cmd) > 0 || size > maxEntrypoint {
		return nil
	}
	return config.Entrypoint
}

// Passing says whether the same read may succeed a while later: the registry is not
// reached, or in trouble, or has had enough of us. What it refuses, or does not
// have, may change too, but nobody knows when.
func Passing(err error) bool {
	var label *LabelError
	var refused *RefusedError
	if errors.As(err, &label) || errors.As(err, &refused) || errors.Is(err, errPlainHTTP) || errors.Is(err, errLocalAddress) {
		return false
	}
	var answer *transport.Error
	if !errors.As(err, &answer) {
		return true
	}
	switch answer.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return false
	default:
		return true
	}
}
