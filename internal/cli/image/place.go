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

// Place is where one image is.
type Place interface {
	registry.Source
	// Identifier is the tag or the digest of the image in this place.
	Identifier() string
	// Tag is the tag that the image has there. Empty: it was named by its digest, or has none.
	Tag() string
	// Name is the image under another tag, as it is written on a command line; an empty tag leaves it as it was written.
	Name(tag string) string
	// Write writes what was changed, and gives the image a tag. An empty tag takes the place of what was read.
	Write(ctx context.Context, changed *Labelled, tag string) error
}

const (
	// layoutPrefix and registryPrefix are what tools write before the path of an OCI layout, and before an image in a
	// registry.
	layoutPrefix   = "oci:"
	registryPrefix = "docker://"
)

// Open finds an image: oci:DIR, oci:DIR:TAG or oci:DIR@DIGEST in an OCI layout, anything else in a registry, which the reader
// knows how to ask.
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

// IsLayout reports whether an image is one of an OCI layout.
func IsLayout(image string) bool { return strings.HasPrefix(image, layoutPrefix) }

// CheckTag returns what is wrong with a tag.
func CheckTag(tag string) error {
	if _, err := name.NewTag("example.com/image:" + tag); err != nil || strings.ContainsAny(tag, "/@:") {
		return fmt.Errorf("%q is not a tag: write up to 128 letters, digits, dots, dashes and underscores", tag)
	}
	return nil
}

var errNoTag = errors.New("is named by its digest, so that nothing says which tag it gets; name one with --tag")
