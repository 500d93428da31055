package bundle

import (
	"fmt"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// These are the paths of files and folders in an archive.
const (
	// Readme explains the purpose of the archive.
	Readme = "README.md"
	// Checksums holds the checksums of all other files, in the format that sha256sum uses.
	Checksums = "SHA256SUMS"
	// ImageList lists the images that installations pull, whether or not the archive contains them.
	ImageList = "images.txt"

	indexFile  = "index.json"
	layoutFile = "oci-layout"
	blobFolder = "blobs/"

	// layoutVersion is the content of layoutFile.
	layoutVersion = `{"imageLayoutVersion":"1.0.0"}` + "\n"
)

// These are the annotations of the images in the index of the layout.
const (
	// annotationName contains the name of the image for tools that read OCI layouts. annotationContainerd contains the
	// name for ctr, the containerd command.
	annotationName       = "org.opencontainers.image.ref.name"
	annotationContainerd = "io.containerd.image.name"
	// annotationOperator is set on the operator's image.
	annotationOperator = "io.llamastack.operator"
)

// Image is an image in an archive.
type Image struct {
	// Reference is the name of the image in manifests, in the catalog and in stacks.
	Reference string
	// Operator reports whether this is the operator's image.
	Operator bool
	// Descriptor is the descriptor of the image. For an image with several platforms, it refers to the index of the image.
	Descriptor v1.Descriptor
}

func (i *Image) annotated() v1.Descriptor {
	result := v1.Descriptor{MediaType: i.Descriptor.MediaType, Digest: i.Descriptor.Digest, Size: i.Descriptor.Size}
	result.Annotations = map[string]string{annotationName: i.Reference, annotationContainerd: containerdName(i.Reference)}
	if i.Operator {
		result.Annotations[annotationOperator] = "true"
	}
	return result
}

// containerdName returns the name of an image as containerd writes it: with the registry, and with the path library/
// for official Docker Hub images.
func containerdName(reference string) string {
	repository, err := imagename.Repository(reference)
	if err != nil {
		return reference
	}
	return imagename.Familiar(repository) + suffix(reference)
}

// suffix returns the tag, the digest, or both in an image's name, including the colon or at sign before them. It
// returns ":latest" if the name contains neither a tag nor a digest.
func suffix(reference string) string {
	begin := strings.LastIndexByte(reference, '/') + 1
	if at := strings.IndexAny(reference[begin:], ":@"); at >= 0 {
		return reference[begin+at:]
	}
	return ":latest"
}

// Destination returns the name of an image below a prefix. The prefix is a registry (host[:port]) or a path in a
// registry. It replaces the registry of the image: docker.io/ogxai/server:1 becomes prefix/ogxai/server:1, as in a
// mirror of docker.io.
func Destination(reference, prefix string, options ...name.Option) (name.Reference, error) {
	repository, err := imagename.Repository(reference)
	if err != nil {
		return nil, err
	}
	_, below, _ := strings.Cut(repository, "/")
	to, err := name.NewRepository(path.Join(prefix, below), options...)
	if err != nil {
		return nil, fmt.Errorf("name of %q below %q: %w", reference, prefix, err)
	}
	ref, err := name.ParseReference(reference)
	if err != nil {
		return nil, fmt.Errorf("parse image %q: %w", reference, err)
	}
	if tag, digest, ok := strings.Cut(suffix(reference), "@"); ok && tag == "" {
		return to.Digest(digest), nil
	} else if ok {
		return to.Tag(strings.TrimPrefix(tag, ":")), nil
	}
	return to.Tag(ref.Identifier()), nil
}

// CheckPrefix returns an error for an invalid prefix.
func CheckPrefix(prefix string) error {
	host, _, _ := strings.Cut(prefix, "/")
	if _, err := name.NewRepository(path.Join(prefix, "image")); err != nil || strings.Contains(prefix, "://") || strings.HasSuffix(prefix, "/") ||
		(host != "localhost" && !strings.ContainsAny(host, ".:")) || strings.Contains(prefix, "//") {
		return fmt.Errorf("%q is not a valid registry: use host[:port], or host[:port]/path with the path in lower "+
			"case; the host must be localhost, or contain a dot, or have a port", prefix)
	}
	return nil
}
