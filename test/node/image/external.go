package image

import (
	"context"
	"encoding/base64"
	"maps"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// providerDir is the folder of the package in an image with an external provider.
	providerDir = "/lls-provider/"
	// providerLabel is the label with the package's metadata.
	providerLabel = "io.llamastack.provider"
)

// ExternalProvider describes an image with an external provider.
type ExternalProvider struct {
	// Files are the files of the package, keyed by their paths below /lls-provider.
	Files map[string][]byte
	// Label is the metadata in a label of the image. Nil means that the image has no label.
	Label []byte
	// Entrypoint is the image's entrypoint. Nil means that the image has no entrypoint.
	Entrypoint []string
}

// Image builds the image. The image contains a shell and the programs that copy files, and runs as the same user as the
// server images.
func (p ExternalProvider) Image(ctx context.Context, folder string) (v1.Image, error) {
	entries, err := programs(ctx, "sh", "cp", "du", "rm", "mkdir", "timeout", "cat", "find", "chmod", "ls", "wc", "sleep")
	if err != nil {
		return nil, err
	}
	entries = append(entries, users(serverUser)...)
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		entries = append(entries, Content{Path: providerDir + name, Mode: 0o644, Content: p.Files[name]})
	}
	layer, err := NewLayer(folder, entries...)
	if err != nil {
		return nil, err
	}
	config := v1.Config{
		Entrypoint: p.Entrypoint, User: serverUser.id(), WorkingDir: serverUser.home, Env: []string{"PATH=/bin"},
	}
	if p.Label != nil {
		config.Labels = map[string]string{providerLabel: base64.StdEncoding.EncodeToString(p.Label)}
	}
	return New(config, layer)
}
