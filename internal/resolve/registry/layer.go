package registry

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// maxUnpacked bounds what is read of an unpacked layer, so that a small file that
	// unpacks to a huge one costs little.
	maxUnpacked = 256 << 20
	// maxEntries bounds the files of a layer that are looked at.
	maxEntries = 50_000
)

// fromLayer reads a file out of a layer of an image.
func fromLayer(image v1.Image, from *source) ([]byte, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	if !slices.ContainsFunc(manifest.Layers, func(l v1.Descriptor) bool { return l.Digest == from.layer }) {
		return nil, &LabelError{Label: LabelLayer, Err: fmt.Errorf("the image has no layer %s", from.layer)}
	}
	layer, err := image.LayerByDigest(from.layer)
	if err != nil {
		return nil, fmt.Errorf("read layer %s: %w", from.layer, err)
	}
	content, err := layer.Uncompressed()
	if err != nil {
		return nil, fmt.Errorf("read layer %s: %w", from.layer, err)
	}
	defer content.Close()
	data, err := fileIn(content, from.file)
	var limit *limitError
	switch {
	case errors.As(err, &limit), errors.Is(err, errNoFile), errors.Is(err, tar.ErrHeader):
		return nil, &LabelError{Label: LabelPath, Err: err}
	case err != nil:
		return nil, fmt.Errorf("read layer %s: %w", from.layer, err)
	}
	return data, nil
}

var errNoFile = errors.New("the layer has no such file")

// fileIn reads a file out of an unpacked layer.
func fileIn(layer io.Reader, file string) ([]byte, error) {
	archive := tar.NewReader(&boundedReader{reader: layer, left: maxUnpacked})
	for range maxEntries {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: %q", errNoFile, file)
		}
		if err != nil {
			return nil, err
		}
		if strings.TrimPrefix(path.Clean("/"+header.Name), "/") != file {
			continue
		}
		if header.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%w: %q is not a plain file", errNoFile, file)
		}
		if header.Size > maxConfig {
			return nil, tooLarge("configuration", maxConfig)
		}
		var data bytes.Buffer
		if _, err := io.CopyN(&data, archive, header.Size); err != nil {
			return nil, err
		}
		return data.Bytes(), nil
	}
	return nil, fmt.Errorf("%w: %q is not among the first %d", errNoFile, file, maxEntries)
}

// boundedReader fails when there is more to read than may be.
type boundedReader struct {
	reader io.Reader
	left   int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooLarge("unpacked layer", maxUnpacked)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.reader.Read(p)
	b.left -= int64(n)
	return n, err
}
