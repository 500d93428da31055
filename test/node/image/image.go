package image

import (
	"context"
	"fmt"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// New returns an OCI image with these layers and this configuration, for the architecture of this machine.
func New(config v1.Config, layers ...v1.Layer) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.AppendLayers(image, layers...)
	if err != nil {
		return nil, fmt.Errorf("append layers: %w", err)
	}
	file, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("read the configuration of the image: %w", err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture, file.Config = "linux", runtime.GOARCH, config
	if image, err = mutate.ConfigFile(image, file); err != nil {
		return nil, fmt.Errorf("write the configuration of the image: %w", err)
	}
	return image, nil
}

// Push pushes an image to a registry. It uses the credentials in Docker's configuration, and plain HTTP if the registry
// does not serve HTTPS. It does not send layers that the registry already has.
func Push(ctx context.Context, reference string, image v1.Image) error {
	to, err := name.ParseReference(reference, name.Insecure)
	if err != nil {
		return fmt.Errorf("read the image reference: %w", err)
	}
	if err := remote.Write(to, image, remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", reference, err)
	}
	return nil
}

// Copy adds a name to an image in its registry.
func Copy(ctx context.Context, from, to string) error {
	source, err := name.ParseReference(from, name.Insecure)
	if err != nil {
		return fmt.Errorf("read the image reference: %w", err)
	}
	image, err := remote.Image(source, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	return Push(ctx, to, image)
}

// Size returns the size of an image in its registry, in bytes.
func Size(image v1.Image) (int64, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return 0, fmt.Errorf("read manifest: %w", err)
	}
	size := manifest.Config.Size
	for _, l := range manifest.Layers {
		size += l.Size
	}
	return size, nil
}
