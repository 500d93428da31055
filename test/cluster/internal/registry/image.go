package registry

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// unprivileged is the user that program images specify.
const unprivileged = "65532:65532"

// PushProgram pushes an image that contains one statically linked program and an empty /tmp. The parameter reference
// has the form host:port/name:tag.
func PushProgram(ctx context.Context, reference, program string) error {
	tag, err := name.NewTag(reference, name.Insecure)
	if err != nil {
		return fmt.Errorf("parsing image reference %q: %w", reference, err)
	}
	image, err := programImage(program)
	if err != nil {
		return fmt.Errorf("making image %q: %w", reference, err)
	}
	if err := remote.Write(tag, image, remote.WithContext(ctx)); err != nil {
		return fmt.Errorf("pushing image %q: %w", reference, err)
	}
	return nil
}

// programImage returns an image with the program as its entry point.
func programImage(program string) (v1.Image, error) {
	layer, err := programLayer(program)
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		types.OCIConfigJSON), layer)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{User: unprivileged, WorkingDir: "/", Entrypoint: []string{"/" + filepath.Base(program)}}
	return mutate.ConfigFile(image, config)
}

// programLayer returns an uncompressed layer. The program is read from the disk and written to it again, so compression
// would only cost time.
func programLayer(program string) (v1.Layer, error) {
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	var buffer bytes.Buffer
	archive := tar.NewWriter(&buffer)
	for _, header := range []*tar.Header{
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeReg, Name: filepath.Base(program), Mode: 0o755, Size: int64(len(data))},
	} {
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
	}
	if _, err := archive.Write(data); err != nil {
		return nil, err
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return static.NewLayer(buffer.Bytes(), types.OCIUncompressedLayer), nil
}
