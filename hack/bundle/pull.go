package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/bundle"
)

// layoutPrefix is the prefix of an image name that refers to an OCI layout.
const layoutPrefix = "oci:"

// puller copies images into a layout. It does not copy existing content again.
type puller struct {
	layout   bundle.Layout
	platform *v1.Platform
}

// pull copies an image or an index into the layout, and returns its descriptor. If a platform is set, it copies only
// the index's image for that platform.
func (p *puller) pull(ctx context.Context, source string) (*v1.Descriptor, error) {
	into, err := p.open()
	if err != nil {
		return nil, err
	}
	image, index, err := p.find(ctx, source)
	switch {
	case err != nil:
		return nil, err
	case image != nil:
		return describe(image, into.WriteImage(image))
	case p.platform == nil:
		return describe(index, into.WriteIndex(index))
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	for i := range manifest.Manifests {
		if found := manifest.Manifests[i]; found.Platform != nil && found.Platform.Satisfies(*p.platform) {
			if image, err = index.Image(found.Digest); err != nil {
				return nil, fmt.Errorf("read the image for %s: %w", p.platform, err)
			}
			return describe(image, into.WriteImage(image))
		}
	}
	return nil, fmt.Errorf("the index has no image for %s; set -platform to another platform, or remove -platform", p.platform)
}

// open opens the layout, and creates it if it does not exist.
func (p *puller) open() (layout.Path, error) {
	folder := string(p.layout)
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // a cache of public images
		return "", fmt.Errorf("create folder for images: %w", err)
	}
	marker := filepath.Join(folder, "oci-layout")
	if err := os.WriteFile(marker, []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644); err != nil { //nolint:gosec // as above
		return "", fmt.Errorf("create layout: %w", err)
	}
	return layout.Path(folder), nil
}

// find returns an image or an index.
func (p *puller) find(ctx context.Context, source string) (v1.Image, v1.ImageIndex, error) {
	if path, ok := strings.CutPrefix(source, layoutPrefix); ok {
		return inLayout(path)
	}
	ref, err := name.ParseReference(source)
	if err != nil {
		return nil, nil, err
	}
	found, err := remote.Get(ref, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return nil, nil, err
	}
	if found.MediaType.IsIndex() {
		index, err := found.ImageIndex()
		return nil, index, err
	}
	image, err := found.Image()
	return image, nil, err
}

// inLayout opens DIR, or DIR:TAG.
func inLayout(path string) (v1.Image, v1.ImageIndex, error) {
	folder, tag := path, ""
	if _, err := os.Stat(path); err != nil {
		if at := strings.LastIndexByte(path, ':'); at > 0 {
			folder, tag = path[:at], path[at+1:]
		}
	}
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("read OCI layout: %w", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, nil, fmt.Errorf("read OCI layout: %w", err)
	}
	var matching []v1.Descriptor
	for i := range manifest.Manifests {
		if tag == "" || manifest.Manifests[i].Annotations["org.opencontainers.image.ref.name"] == tag {
			matching = append(matching, manifest.Manifests[i])
		}
	}
	switch {
	case len(matching) == 1:
	case tag == "":
		return nil, nil, fmt.Errorf("the OCI layout %q has %d images, but exactly one image must match: specify the tag "+
			"of an image as %s%s:TAG", folder, len(matching), layoutPrefix, folder)
	default:
		return nil, nil, fmt.Errorf("%d images in the OCI layout %q have the tag %q, but exactly one image must match: specify the tag of an image as %s%s:TAG", len(matching), folder, tag, layoutPrefix, folder)
	}
	if matching[0].MediaType.IsIndex() {
		inner, err := index.ImageIndex(matching[0].Digest)
		return nil, inner, err
	}
	image, err := index.Image(matching[0].Digest)
	return image, nil, err
}

// describe returns the descriptor of an image or an index that was written, or the error from the write.
func describe(of partial.Describable, written error) (*v1.Descriptor, error) {
	if written != nil {
		return nil, written
	}
	return partial.Descriptor(of)
}
