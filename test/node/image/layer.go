package image

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layer is a layer that is stored in a file, in the same form as in the registry.
type layer struct {
	file   string
	digest v1.Hash
	size   int64
}

var _ v1.Layer = (*layer)(nil)

func (l *layer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l *layer) Size() (int64, error)                 { return l.size, nil }
func (l *layer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }
func (l *layer) Compressed() (io.ReadCloser, error)   { return os.Open(l.file) }
func (l *layer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.file) }

// NewLayer writes a layer to a file in the given directory. The file must exist until the image has been pushed. The
// same entries result in the same bytes.
func NewLayer(folder string, entries ...Entry) (v1.Layer, error) {
	file, err := os.CreateTemp(folder, "layer-*.tar")
	if err != nil {
		return nil, fmt.Errorf("create a file for a layer: %w", err)
	}
	digest := sha256.New()
	buffered := bufio.NewWriterSize(io.MultiWriter(file, digest), 1<<20)
	err = errors.Join(writeEntries(buffered, entries), buffered.Flush())
	info, statErr := file.Stat()
	if err := errors.Join(err, statErr, file.Close()); err != nil {
		return nil, fmt.Errorf("write layer: %w", err)
	}
	return &layer{
		file:   filepath.Join(folder, filepath.Base(file.Name())),
		digest: v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(digest.Sum(nil))},
		size:   info.Size(),
	}, nil
}

func writeEntries(into io.Writer, entries []Entry) error {
	w := &layerWriter{tar: tar.NewWriter(into), known: map[string]bool{}}
	for _, entry := range entries {
		if err := entry.write(w); err != nil {
			return err
		}
	}
	return w.tar.Close()
}
