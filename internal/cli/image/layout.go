package image

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
)

const (
	// tagAnnotation is the annotation that contains the tag of an image in the index of a layout.
	tagAnnotation = "org.opencontainers.image.ref.name"
	indexFile     = "index.json"
)

// ociLayout is an image in an OCI layout.
type ociLayout struct {
	path   layout.Path
	image  string
	entry  v1.Descriptor
	tagged bool
}

// splitLayout splits DIR, DIR:TAG or DIR@DIGEST into the directory and the tag or digest.
func splitLayout(image string) (directory, wanted string) {
	i := strings.LastIndexAny(image, ":@")
	if i <= 0 || strings.ContainsAny(image[i+1:], "/\\") {
		return image, ""
	}
	if path, algorithm, ok := strings.Cut(image[:i], "@"); ok && image[i] == ':' {
		return path, algorithm + image[i:]
	}
	return image[:i], image[i+1:]
}

// openLayout opens DIR, DIR:TAG or DIR@DIGEST. Without a tag or digest, the layout must contain exactly one image.
func openLayout(image string) (*ociLayout, error) {
	directory, wanted := splitLayout(image)
	l := &ociLayout{path: layout.Path(directory), image: layoutPrefix + image}
	index, err := l.index()
	if err != nil {
		return nil, err
	}
	var tags []string
	for i := range index.Manifests {
		entry := &index.Manifests[i]
		tag := entry.Annotations[tagAnnotation]
		tags = append(tags, cmp.Or(tag, entry.Digest.String()))
		if wanted == tag && tag != "" || wanted == entry.Digest.String() || wanted == "" && len(index.Manifests) == 1 {
			l.entry, l.tagged = *entry, tag != ""
			return l, nil
		}
	}
	listed := strings.Join(tags[:min(len(tags), maxTags)], ", ")
	switch {
	case len(tags) == 0:
		return nil, fmt.Errorf("the OCI layout %q has no image; copy an image into this layout", directory)
	case wanted == "":
		return nil, fmt.Errorf("the OCI layout %q has %d images; add one of these tags or digests to the image name: %s", directory, len(tags), listed)
	default:
		return nil, fmt.Errorf("the OCI layout %q has no image %q; use one of its images: %s", directory, wanted, listed)
	}
}

// maxTags is the maximum number of images that an error lists.
const maxTags = 20

func (l *ociLayout) index() (*v1.IndexManifest, error) {
	content, err := os.ReadFile(filepath.Join(string(l.path), indexFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%q is not an OCI layout: the directory has no %s; check the path",
			string(l.path), indexFile)
	case err != nil:
		return nil, err
	}
	index, err := v1.ParseIndexManifest(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the OCI layout %q has an %s that is not an index; copy the image to a new layout", string(l.path), indexFile)
	}
	return index, nil
}

// Identifier returns the digest of the image.
func (l *ociLayout) Identifier() string { return l.entry.Digest.String() }

// Tag returns the tag of the image in the layout.
func (l *ociLayout) Tag() string {
	if l.tagged {
		return l.entry.Annotations[tagAnnotation]
	}
	return ""
}

// Name returns the image's name with a different tag.
func (l *ociLayout) Name(tag string) string {
	if tag == "" {
		return l.image
	}
	return layoutPrefix + string(l.path) + ":" + tag
}

// Manifest returns a manifest by its digest.
func (l *ociLayout) Manifest(ctx context.Context, identifier string) (io.ReadCloser, error) {
	digest, err := v1.NewHash(identifier)
	if err != nil {
		return nil, fmt.Errorf("%q is not a digest; use the form sha256:DIGEST", identifier)
	}
	return l.Blob(ctx, digest)
}

// Blob returns a blob by its digest.
func (l *ociLayout) Blob(_ context.Context, digest v1.Hash) (io.ReadCloser, error) {
	file, err := l.path.Blob(digest)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the OCI layout %q has no blob %s; copy the image to the layout again",
			string(l.path), digest)
	}
	return file, err
}

// Write writes a file for each blob and each manifest, and then the index.
func (l *ociLayout) Write(_ context.Context, changed *Labeled, tag string) error {
	for _, one := range changed.Blobs {
		if err := l.replace(one.Content, "blobs", one.Digest.Algorithm, one.Digest.Hex); err != nil {
			return err
		}
	}
	for _, one := range append(slices.Clone(changed.Manifests), changed.Top) {
		if err := l.replace(one.Content, "blobs", one.Digest.Algorithm, one.Digest.Hex); err != nil {
			return err
		}
	}
	index, err := l.index()
	if err != nil {
		return err
	}
	l.enter(index, &changed.Top, tag)
	return l.replace(encode(index), indexFile)
}

// enter enters the changed image into the index of the layout. The image replaces the entry that has the tag. Without a
// tag, it replaces the entry that was read. If the index contains no such entry, enter adds one.
func (l *ociLayout) enter(index *v1.IndexManifest, top *Manifest, tag string) {
	wanted := cmp.Or(tag, l.Tag(), l.Identifier())
	at := slices.IndexFunc(index.Manifests, func(entry v1.Descriptor) bool {
		return entry.Annotations[tagAnnotation] == wanted || entry.Digest.String() == wanted
	})
	if at < 0 {
		at = len(index.Manifests)
		index.Manifests = append(index.Manifests, v1.Descriptor{Annotations: map[string]string{tagAnnotation: tag}})
	}
	entry := &index.Manifests[at]
	entry.MediaType, entry.Digest = types.MediaType(top.MediaTypeText), top.Digest
	entry.Size, entry.Data = int64(len(top.Content)), nil
}

// replace writes a file of the layout.
func (l *ociLayout) replace(content []byte, elements ...string) error {
	name := filepath.Join(append([]string{string(l.path)}, elements...)...)
	if err := files.Replace(name, content, 0o644); err != nil {
		return fmt.Errorf("write %q: %w", name, err)
	}
	return nil
}
