package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

// changedSource has what was changed before what is elsewhere.
type changedSource struct {
	registry.Source
	contents map[v1.Hash][]byte
}

// Manifest is a manifest by its digest.
func (s *changedSource) Manifest(ctx context.Context, identifier string) (io.ReadCloser, error) {
	if digest, err := v1.NewHash(identifier); err == nil && s.contents[digest] != nil {
		return io.NopCloser(bytes.NewReader(s.contents[digest])), nil
	}
	return s.Source.Manifest(ctx, identifier)
}

// Blob is a blob by its digest.
func (s *changedSource) Blob(ctx context.Context, digest v1.Hash) (io.ReadCloser, error) {
	if s.contents[digest] != nil {
		return io.NopCloser(bytes.NewReader(s.contents[digest])), nil
	}
	return s.Source.Blob(ctx, digest)
}

// Verify reads what was labelled as the operator would, before it is written, and compares it with what was wanted. It
// returns what the operator would read of each image.
func Verify(ctx context.Context, from registry.Source, changed *Labelled, wanted *registry.Labels) ([]*registry.Details, error) {
	source := &changedSource{Source: from, contents: map[v1.Hash][]byte{changed.Top.Digest: changed.Top.Content}}
	for i := range changed.Manifests {
		source.contents[changed.Manifests[i].Digest] = changed.Manifests[i].Content
	}
	for i := range changed.Blobs {
		source.contents[changed.Blobs[i].Digest] = changed.Blobs[i].Content
	}
	var all []*registry.Details
	for i := range changed.Images {
		read, err := registry.Inspect(ctx, source, changed.Images[i].After.String(), v1.Platform{})
		if err == nil {
			err = same(read, wanted)
		}
		if err != nil {
			return nil, fmt.Errorf("the operator would not read the labelled image %s: %w", changed.Images[i].Before, err)
		}
		all = append(all, read)
	}
	_, _, err := registry.Platforms(ctx, source, changed.Top.Digest.String())
	return all, err
}

// same returns what the operator would read otherwise than it was wanted.
func same(read *registry.Details, wanted *registry.Labels) error {
	switch {
	case wanted.Config != nil && !bytes.Equal(read.Config, wanted.Config):
		return errors.New("its configuration is another one")
	case wanted.Release != "" && read.Release != wanted.Release:
		return fmt.Errorf("its release is %q", read.Release)
	case wanted.Provider != nil && read.Provider != wanted.Texts("")[registry.LabelProvider]:
		return errors.New("the metadata of its provider are others")
	default:
		return nil
	}
}
