package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// changedSource returns changed content that is not written yet, and reads all other content from the wrapped source.
type changedSource struct {
	registry.Source
	contents map[v1.Hash][]byte
}

// Manifest returns a manifest by its digest.
func (s *changedSource) Manifest(ctx context.Context, identifier string) (io.ReadCloser, error) {
	if digest, err := v1.NewHash(identifier); err == nil && s.contents[digest] != nil {
		return io.NopCloser(bytes.NewReader(s.contents[digest])), nil
	}
	return s.Source.Manifest(ctx, identifier)
}

// Blob returns a blob by its digest.
func (s *changedSource) Blob(ctx context.Context, digest v1.Hash) (io.ReadCloser, error) {
	if s.contents[digest] != nil {
		return io.NopCloser(bytes.NewReader(s.contents[digest])), nil
	}
	return s.Source.Blob(ctx, digest)
}

// Verify reads the labeled images, which are not written yet, as the operator would read them, and compares the result
// with the labels. It returns the data that the operator would read from each image.
func Verify(
	ctx context.Context, from registry.Source, changed *Labeled, wanted *registry.Labels,
) ([]*registry.Details, error) {
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
			return nil, fmt.Errorf("the labels of image %s would be wrong after the change: "+
				"%w", changed.Images[i].Before, err)
		}
		all = append(all, read)
	}
	_, _, err := registry.Platforms(ctx, source, changed.Top.Digest.String())
	return all, err
}

// same returns an error if the data that the operator would read differs from the data in the labels.
func same(read *registry.Details, wanted *registry.Labels) error {
	switch {
	case wanted.Config != nil && !bytes.Equal(read.Config, wanted.Config):
		return errors.New("the operator would read a different configuration; build the image again")
	case wanted.Release != "" && read.Release != wanted.Release:
		return fmt.Errorf("the operator would read the release %q; build the image again", read.Release)
	case wanted.Provider != nil && read.Provider != wanted.Texts("")[registry.LabelProvider]:
		return errors.New("the operator would read different provider metadata; build the image again")
	default:
		return nil
	}
}
