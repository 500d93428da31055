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

// Details are all that an image says of itself, with the way to it.
type Details struct {
	Image
	// Platform is that of the image among several; empty when there is only one image.
	Platform string
	// Parts are what was read, in this order.
	Parts []Part
}

// Open gives access to an image in a registry, and what it has to be asked for there. The guards of the reader hold for
// everything that is read.
func (r *Reader) Open(ctx context.Context, image string, credentials authn.Keychain) (Source, name.Reference, error) {
	ref, err := r.reference(image)
	if err != nil {
		return nil, nil, err
	}
	auth, err := authn.Resolve(ctx, credentials, ref.Context())
	if err != nil {
		return nil, nil, err
	}
	found, err := connect(ctx, ref.Context(), auth, r.through)
	if err != nil {
		return nil, nil, err
	}
	return found, ref, nil
}

// Transport asks registries with the guards of the reader.
func (r *Reader) Transport() http.RoundTripper { return r.through }

// Inspect reads an image as a Reader does for the image of a server and for that of an external provider, from any source.
func Inspect(ctx context.Context, from Source, identifier string, wanted v1.Platform) (*Details, error) {
	way := &trail{from: from}
	top, digest, err := way.manifest(ctx, identifier)
	if err != nil {
		return nil, err
	}
	single, of, err := forPlatform(ctx, way, top, wanted)
	if err != nil {
		return nil, err
	}
	found := &Details{}
	if top.Manifests != nil {
		found.Platform = of.orUsual().String()
	}
	config, err := readImageConfig(ctx, single, way.config)
	if err != nil {
		return nil, err
	}
	label, err := config.provider(ctx)
	if err != nil {
		return nil, err
	}
	image, err := contentOf(ctx, single, config, way.layer)
	if err != nil {
		return nil, err
	}
	found.Image, found.Parts = *image, way.parts
	found.Digest, found.Provider = digest.String(), label
	return found, nil
}

// Platforms are those of the images of an index, each once, and the digest of the index. An image that is none of several
// has no platform here. What is for no platform, as an attestation, is left out.
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
			return false, errNoManifest
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
	// unknownPlatform is the system of an entry that is no image to run, by convention.
	unknownPlatform = "unknown"
	// maxPlatforms bounds what is asked of a registry for one image.
	maxPlatforms = 64
)

// orUsual is the platform, or the one of an entry that names none.
func (p *platform) orUsual() v1.Platform {
	if p == nil {
		return v1.Platform{OS: "linux", Architecture: "amd64"}
	}
	return v1.Platform{OS: p.OS, Architecture: p.Architecture, Variant: p.Variant}
}
