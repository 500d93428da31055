package image

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

// Place is the location of one image.
type Place interface {
	registry.Source
	// Identifier returns the tag or the digest of the image.
	Identifier() string
	// Tag returns the tag of the image. It returns "" if the image has none or was named by its digest.
	Tag() string
	// Name returns the image name with another tag, as on a command line. With an empty tag it returns the name
	// unchanged.
	Name(tag string) string
	// Write writes the changed image with a tag. With an empty tag the image replaces the one that was read.
	Write(ctx context.Context, changed *Labelled, tag string) error
}

const (
	// layoutPrefix and registryPrefix are the prefixes that other tools write before the path of an OCI layout and
	// before an image in a registry.
	layoutPrefix   = "oci:"
	registryPrefix = "docker://"
)

// Open opens an image: oci:DIR, oci:DIR:TAG or oci:DIR@DIGEST in an OCI layout, or any other name in a registry that
// the reader can access.
func Open(ctx context.Context, image string, reader *registry.Reader, credentials authn.Keychain) (Place, error) {
	if path, ok := strings.CutPrefix(image, layoutPrefix); ok {
		return openLayout(path)
	}
	image = strings.TrimPrefix(image, registryPrefix)
	source, ref, err := reader.Open(ctx, image, credentials)
	if err != nil {
		return nil, err
	}
	return &repository{Source: source, image: image, ref: ref, reader: reader, credentials: credentials}, nil
}

// IsLayout reports whether an image is in an OCI layout.
func IsLayout(image string) bool { return strings.HasPrefix(image, layoutPrefix) }

// CheckTag returns an error for an invalid tag.
func CheckTag(tag string) error {
	if _, err := name.NewTag("example.com/image:" + tag); err != nil || strings.ContainsAny(tag, "/@:") {
		return fmt.Errorf("%q is not a valid tag: use up to 128 letters, digits, dots, dashes and underscores", tag)
	}
	return nil
}

var errNoTag = errors.New("the image is named by its digest, so the tag to write is not known; set --tag")
