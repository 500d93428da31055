package imagename

import (
	"fmt"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// Docker Hub's host is docker.io in image names and index.docker.io in requests. Its images without an organization are
// below library.
const (
	hub        = "docker.io"
	hubAsAsked = name.DefaultRegistry
	hubLibrary = hubAsAsked + "/library/"
)

// Repository returns the normal form of an image's name without its tag and digest, for example
// index.docker.io/library/redis for redis:7. It returns an error for a name that no registry accepts, such as one with
// "..".
func Repository(image string) (string, error) {
	reference, err := name.ParseReference(image)
	if err != nil {
		return "", fmt.Errorf("parse image %q: %w", image, err)
	}
	// The second pass adds library/ to a name whose host becomes docker.io only during normalization.
	repository, err := name.NewRepository(Prefix(reference.Context().Name()))
	if err != nil {
		return "", fmt.Errorf("parse image %q: %w", image, err)
	}
	// A proxy can read quay.io/team/../other as quay.io/other.
	if full := repository.Name(); path.Clean(full) == full {
		return full, nil
	}
	return "", fmt.Errorf("parse image %q: its path contains an empty element, or the element \".\" or \"..\"; remove this element", image)
}

// Registry returns the normal form of a registry's host.
func Registry(host string) string {
	if host = strings.ToLower(host); host == hub {
		return hubAsAsked
	}
	return host
}

// Familiar replaces the host of a name in normal form with the host that users write: docker.io for Docker Hub.
func Familiar(repository string) string {
	if below, ok := strings.CutPrefix(repository, hubAsAsked); ok && (below == "" || below[0] == '/') {
		return hub + below
	}
	return repository
}

// Tag returns the tag of an image, or "" for an image without a tag.
func Tag(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if at := strings.LastIndexByte(image, ':'); at > strings.LastIndexByte(image, '/') {
		return image[at+1:]
	}
	return ""
}
