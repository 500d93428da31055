package bundle

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// maxMembers bounds the number of files in an archive. maxImages bounds the number of images.
	maxMembers = 20_000
	maxImages  = 1000
)

// recreate is the remedy for an archive with an invalid list of images.
const recreate = "create a new archive with make airgap-bundle"

// Bundle is an open archive.
type Bundle struct {
	// Images lists the images in the order of the archive.
	Images []Image

	file    *os.File
	members map[string]member
}

// member is the position of a file in the archive.
type member struct{ offset, size int64 }

// Open opens an archive and reads its list of images. It does not read blobs.
func Open(path string) (*Bundle, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	b := &Bundle{file: file}
	if b.members, err = scan(file); err == nil {
		b.Images, err = b.images()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read bundle %q: %w", path, err), file.Close())
	}
	return b, nil
}

// Close closes the file.
func (b *Bundle) Close() error { return b.file.Close() }

// scan returns the positions of the files in an archive. It does not read their content.
func scan(file io.ReadSeeker) (map[string]member, error) {
	members := map[string]member{}
	for archive := tar.NewReader(file); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return members, nil
		case err != nil && len(members) == 0:
			return nil, errors.New("the file is not a tar archive; if the file is a compressed archive, decompress the file first")
		case err != nil:
			return nil, errors.New("the archive is truncated or damaged; copy the archive again, or create a new archive")
		case header.Typeflag != tar.TypeReg:
			continue
		case len(members) == maxMembers:
			return nil, fmt.Errorf("the archive has more than %d files; create an archive with fewer images", maxMembers)
		}
		offset, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		members[strings.TrimPrefix(header.Name, "./")] = member{offset, header.Size}
	}
}

// images returns the images in the index of the layout.
func (b *Bundle) images() ([]Image, error) {
	content, err := b.Read(indexFile, maxManifest)
	if err != nil {
		return nil, err
	}
	var index manifest
	err = json.Unmarshal(content, &index)
	switch {
	case Damage(err) != nil || len(index.Manifests) > maxImages:
		return nil, fmt.Errorf("the archive has more than %d images; create an archive with fewer images", maxImages)
	case err != nil || len(index.Manifests) == 0:
		return nil, fmt.Errorf("file %s in the archive lists no images; "+recreate, indexFile)
	}
	var images []Image
	for i := range index.Manifests {
		entry := index.Manifests[i]
		reference := entry.Annotations[annotationName]
		if _, err := name.ParseReference(reference); err != nil {
			return nil, fmt.Errorf("image %s has the invalid name %q in annotation %s; "+recreate, entry.Digest, reference,
				annotationName)
		}
		images = append(images, Image{
			Reference: reference, Operator: entry.Annotations[annotationOperator] == "true",
			Descriptor: entry,
		})
	}
	return images, nil
}

// Read returns the content of a file in the archive. It returns an error if the content is longer than limit bytes.
func (b *Bundle) Read(file string, limit int64) ([]byte, error) {
	found, ok := b.members[file]
	switch {
	case !ok:
		return nil, fmt.Errorf("the archive does not contain file %s; "+recreate, file)
	case found.size > limit:
		return nil, fmt.Errorf("file %s in the archive is larger than %d bytes; "+recreate, file, limit)
	}
	return io.ReadAll(io.NewSectionReader(b.file, found.offset, found.size))
}

// open opens a blob.
func (b *Bundle) open(digest v1.Hash) (io.ReadCloser, int64, error) {
	found, ok := b.members[blobPath(digest)]
	if !ok {
		return nil, 0, damaged("the archive does not contain blob %s", digest)
	}
	return io.NopCloser(io.NewSectionReader(b.file, found.offset, found.size)), found.size, nil
}

func blobPath(digest v1.Hash) string { return blobFolder + digest.Algorithm + "/" + digest.Hex }

// Size returns the size in bytes of an image with all its platforms.
func (b *Bundle) Size(ctx context.Context, image *Image) (int64, error) {
	all, err := parts(ctx, b, image.Descriptor)
	if err != nil {
		return 0, fmt.Errorf("image %q: %w", image.Reference, err)
	}
	var size int64
	for i := range all {
		size += all[i].Size
	}
	return size, nil
}
