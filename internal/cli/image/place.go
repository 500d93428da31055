package image

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// Place is the location of one image.
type Place interface {
	registry.Source
	// Identifier returns the tag or the digest of the image.
	Identifier() string
	// Tag returns the tag of the image, or "" if the image has no tag. For an image in a registry, it also returns ""
	// if the name contains a digest.
	Tag() string
	// Name returns the image's name with a different tag, as a user can write it. For an empty tag, it returns the
	// unchanged name.
	Name(tag string) string
	// Write writes the changed image with a tag. With an empty tag, it replaces the image that was read. For an image in a
	// registry, an empty tag is an error if the method Tag also returns "".
	Write(ctx context.Context, changed *Labeled, tag string) error
}

const (
	// layoutPrefix and registryPrefix are the prefixes that other tools use for the path of an OCI layout, and for the
	// name of an image in a registry.
	layoutPrefix   = "oci:"
	registryPrefix = "docker://"
)

// Open opens an image. The names oci:DIR, oci:DIR:TAG and oci:DIR@DIGEST refer to images in an OCI layout. Other names
// refer to images in a registry.
func Open(ctx context.Context, image string, reader *registry.Reader) (Place, error) {
	if path, ok := strings.CutPrefix(image, layoutPrefix); ok {
		return openLayout(path)
	}
	image = strings.TrimPrefix(image, registryPrefix)
	source, ref, err := reader.Open(ctx, image, authn.DefaultKeychain)
	if err != nil {
		return nil, err
	}
	return &repository{Source: source, image: image, ref: ref, reader: reader}, nil
}

// CheckTag returns an error for an invalid tag.
func CheckTag(tag string) error {
	if _, err := name.NewTag("example.com/image:" + tag); err != nil || strings.ContainsAny(tag, "/@:") {
		return fmt.Errorf("%q is not a valid tag: use up to 128 letters, digits, dots, dashes and underscores", tag)
	}
	return nil
}

var errNoTag = errors.New("has a digest and no tag in its name; set --tag to the tag to write")
