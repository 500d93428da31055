package registry

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxLayer bounds the size of a layer in the registry. A layer is read to its end, because the digest covers all of
	// it.
	maxLayer = 32 << 20
	// maxUnpacked bounds the number of bytes that are read from an unpacked layer, so that a small layer that unpacks to a
	// large size does not take much time.
	maxUnpacked = 256 << 20
	// maxEntries bounds the number of entries that fileIn examines in a layer.
	maxEntries = 50_000
	// maxWindow bounds the window of the zstd decoder. RFC 8878, section 3.1.1.1.2, recommends that every decoder support
	// this size. Encoders use no larger window by default.
	maxWindow = 8 << 20
)

// useBase64 is the remedy for a layer that is not read.
const useBase64 = `put the configuration in the label "` + LabelBase64 + `" instead`

// setPath is the remedy for a LabelPath label that does not name the configuration.
const setPath = "set this label to the path of the configuration in the layer"

// fromLayer reads a file from an image layer.
func (t *trail) fromLayer(ctx context.Context, of *manifest, from *source) ([]byte, error) {
	layer, err := find(ctx, of.Layers, func(d *descriptor) bool { return d.Digest == from.layer })
	switch {
	case err != nil:
		return nil, err
	case layer == nil:
		return nil, &LabelError{Label: LabelLayer, Err: fmt.Errorf("the image has no layer %s; set this label to the digest of the layer that contains the configuration", from.layer)}
	case layer.Size > maxLayer:
		return nil, &LabelError{Label: LabelLayer, Err: fmt.Errorf("%w; %s", tooLarge("layer", maxLayer), useBase64)}
	}
	var data []byte
	err = t.blob(ctx, PartLayer, *layer, func(content io.Reader) error {
		var err error
		data, err = fileInLayer(ctx, content, from.file)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// fileInLayer reads a file from a layer that may be compressed. Every error except the context's error describes a
// fault in the layer.
func fileInLayer(ctx context.Context, content io.Reader, file string) ([]byte, error) {
	unpacked, done, err := unpack(ctx, content)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, sanitize(ctx.Err())
	case err != nil:
		return nil, &LabelError{Label: LabelLayer, Err: err}
	}
	panicked := true
	defer func() { done(!panicked) }()
	data, err := fileIn(&boundedReader{
		ctx: ctx, reader: unpacked, left: maxUnpacked,
		exceeded: fmt.Errorf("%w; %s", tooLarge("unpacked layer", maxUnpacked), useBase64),
	}, file)
	panicked = false
	var limit *limitError
	switch {
	case err == nil:
		return data, nil
	case ctx.Err() != nil:
		return nil, sanitize(ctx.Err())
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		err = fmt.Errorf("the layer is compressed with zstd, using a window larger than %d bytes; %s", maxWindow, useBase64)
	case !errors.As(err, &limit) && !errors.Is(err, errNoFile):
		err = errUnpack
	}
	return nil, &LabelError{Label: LabelPath, Err: err}
}

// unpack detects the compression of a layer by its first bytes, and decompresses the layer.
func unpack(ctx context.Context, content io.Reader) (io.Reader, func(intact bool), error) {
	buffered := bufio.NewReader(content)
	start, err := buffered.Peek(4)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, nil, errors.New("the layer cannot be read")
	case bytes.HasPrefix(start, []byte{0x1f, 0x8b}):
		reader, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, nil, errUnpack
		}
		return reader, func(bool) {}, nil
	case bytes.Equal(start, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return unpackZstd(ctx, buffered)
	default:
		return buffered, func(bool) {}, nil
	}
}

var (
	errNoFile = errors.New("the file cannot be read from the layer")
	errUnpack = errors.New("the layer cannot be decompressed; build and push the image again")
)

// fileIn reads a file from an uncompressed layer.
func fileIn(layer io.Reader, file string) ([]byte, error) {
	archive := tar.NewReader(layer)
	for range maxEntries {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: %q does not exist; %s", errNoFile, shorten(file), setPath)
		}
		if err != nil {
			return nil, err
		}
		if strings.TrimPrefix(path.Clean("/"+header.Name), "/") != file {
			continue
		}
		if header.Typeflag != tar.TypeReg {
			return nil, fmt.Errorf("%w: %q is not a regular file; %s", errNoFile, shorten(file), setPath)
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
	return nil, fmt.Errorf("%w: %q is not among the first %d entries; %s", errNoFile, shorten(file), maxEntries, useBase64)
}

// boundedReader limits the length of content. A read returns the error in `exceeded` if the content is longer than
// allowed, and the context's error when the context ends.
type boundedReader struct {
	ctx      context.Context // io.Reader has no context parameter
	reader   io.Reader
	left     int64
	exceeded error
}

// Read reads at most the remaining number of bytes.
func (b *boundedReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	if b.left <= 0 {
		return 0, b.exceeded
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.reader.Read(p)
	b.left -= int64(n)
	return n, err
}
