package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Details holds the content of an image and the parts that it was read from.
type Details struct {
	Image
	// Platform is the platform of the image in an index. Empty means that the image is not in an index.
	Platform string
	// Parts lists the manifests and blobs that were read, in order.
	Parts []Part
}

// Open returns a source for an image in a registry, and the reference to read from this source. The reader's checks
// apply to everything that the source reads.
func (r *Reader) Open(ctx context.Context, image string, credentials authn.Keychain) (Source, name.Reference, error) {
	ref, err := r.reference(image)
	if err != nil {
		return nil, nil, err
	}
	auth, err := authn.Resolve(ctx, credentials, ref.Context())
	if err != nil {
		return nil, nil, err
	}
	found, err := r.connect(ctx, ref.Context(), auth)
	if err != nil {
		return nil, nil, err
	}
	return found, ref, nil
}

// Transport returns a transport for registries with the reader's checks.
func (r *Reader) Transport() http.RoundTripper { return r.through }

// Inspect reads an image from any source, as a Reader does for a server image and for the image of an external
// provider.
func Inspect(ctx context.Context, from Source, identifier string, wanted v1.Platform) (*Details, error) {
	way := &trail{from: from}
	top, digest, err := way.manifest(ctx, identifier)
	if err != nil {
		return nil, err
	}
	single, config, of, err := way.imageConfig(ctx, top, wanted)
	if err != nil {
		return nil, err
	}
	label, err := config.provider(ctx)
	if err != nil {
		return nil, err
	}
	image, err := way.content(ctx, single, config)
	if err != nil {
		return nil, err
	}
	found := &Details{}
	if top.Manifests != nil {
		found.Platform = of.orUsual().String()
	}
	found.Image, found.Parts = *image, way.parts
	found.Digest, found.Provider = digest.String(), label
	return found, nil
}

// Platforms returns the platforms of the images in an index, each once, and the digest of the index. It returns no
// platforms for an image that is not in an index. It ignores entries that are not runnable images, such as
// attestations.
func Platforms(ctx context.Context, from Source, identifier string) ([]v1.Platform, string, error) {
	way := &trail{from: from}
	top, digest, err := way.manifest(ctx, identifier)
	if err != nil || top.Manifests == nil {
		return nil, digest.String(), err
	}
	var platforms []v1.Platform
	known := map[string]bool{}
	err = eachEntry(ctx, top.Manifests, '[', func(decoder *json.Decoder) (bool, error) {
		var entry descriptor
		if err := decoder.Decode(&entry); err != nil {
			return false, errNoImage
		}
		if found := entry.Platform.orUsual(); found.OS != unknownPlatform && !known[found.String()] {
			known[found.String()] = true
			platforms = append(platforms, found)
		}
		return false, nil
	})
	if len(platforms) > maxPlatforms {
		return nil, "", fmt.Errorf("the image has more than %d platforms", maxPlatforms)
	}
	return platforms, digest.String(), err
}

const (
	// unknownPlatform is, by convention, the operating system of an index entry that is not a runnable image.
	unknownPlatform = "unknown"
	// maxPlatforms bounds the number of platforms of one image, and so the number of requests to the registry.
	maxPlatforms = 64
)

// orUsual returns the platform, or the default for an entry that specifies no platform.
func (p *platform) orUsual() v1.Platform {
	if p == nil {
		return v1.Platform{OS: "linux", Architecture: "amd64"}
	}
	return v1.Platform{OS: shorten(p.OS), Architecture: shorten(p.Architecture), Variant: shorten(p.Variant)}
}
