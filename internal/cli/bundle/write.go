package bundle

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// File is a file that an archive contains in addition to its images.
type File struct {
	// Name is the path of the file in the archive.
	Name string
	// Source is the file on this machine that contains the content. Empty means that the content is in Content.
	Source  string
	Content []byte
	// Executable reports whether the file is a program.
	Executable bool
}

// Layout is the path of a directory that contains the blobs of an OCI layout.
type Layout string

func (l Layout) open(digest v1.Hash) (io.ReadCloser, int64, error) {
	body, size, err := openFile(filepath.Join(string(l), filepath.FromSlash(blobPath(digest))))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("the layout %q does not contain blob %s; delete the layout folder, and create "+
			"the archive again", string(l), digest)
	}
	return body, size, err
}

// openFile opens a file, and returns its size.
func openFile(path string) (io.ReadCloser, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// Write writes an archive that contains images and files. Write reads the blobs of the images from a layout, and
// compares them with their digests. Equal content produces identical archives: files are sorted, and have no owner and
// no modification time.
func Write(ctx context.Context, into io.Writer, from Layout, images []Image, files []File) error {
	members, err := collect(ctx, from, images)
	if err != nil {
		return err
	}
	for i := range files {
		one := &files[i]
		members = append(members, content{name: one.Name, executable: one.Executable, open: one.open})
	}
	slices.SortFunc(members, func(a, b content) int { return strings.Compare(a.name, b.name) })
	w := &writer{tar: tar.NewWriter(into)}
	for i := range members {
		if i > 0 && members[i].name == members[i-1].name {
			return fmt.Errorf("the archive would contain %q twice", members[i].name)
		}
		if err := errors.Join(ctx.Err(), w.add(&members[i])); err != nil {
			return err
		}
	}
	if err := w.add(contentOf(Checksums, []byte(w.sums.String()))); err != nil {
		return err
	}
	return w.tar.Close()
}

// collect returns the files in the OCI layout of the images: the index, the version of the layout, and each blob once.
func collect(ctx context.Context, from Layout, images []Image) ([]content, error) {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	blobs := map[string]v1.Descriptor{}
	slices.SortFunc(images, func(a, b Image) int { return strings.Compare(a.Reference, b.Reference) })
	if _, err := (&Bundle{Images: images}).Destinations(&Target{Prefix: "registry.example.com"}); err != nil {
		return nil, err
	}
	for i := range images {
		all, err := parts(ctx, from, images[i].Descriptor)
		if err != nil {
			return nil, fmt.Errorf("image %q: %w", images[i].Reference, err)
		}
		for j := range all {
			blobs[blobPath(all[j].Digest)] = all[j].Descriptor
		}
		index.Manifests = append(index.Manifests, images[i].annotated())
	}
	encoded, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the layout index: %w", err)
	}
	members := []content{*contentOf(indexFile, append(encoded, '\n')), *contentOf(layoutFile, []byte(layoutVersion))}
	for name, of := range blobs {
		members = append(members, content{name: name, open: from.verified(of)})
	}
	return members, nil
}

// verified returns a function that opens a blob and compares its content with its digest.
func (l Layout) verified(of v1.Descriptor) func() (io.ReadCloser, int64, error) {
	return func() (io.ReadCloser, int64, error) {
		body, err := openVerified(l, of)
		return body, of.Size, err
	}
}

// content is a file to write into an archive.
type content struct {
	name       string
	executable bool
	open       func() (io.ReadCloser, int64, error)
}

func contentOf(name string, data []byte) *content {
	return &content{name: name, open: func() (io.ReadCloser, int64, error) {
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
	}}
}

func (f *File) open() (io.ReadCloser, int64, error) {
	if f.Source == "" {
		return contentOf(f.Name, f.Content).open()
	}
	return openFile(f.Source)
}

// writer writes a tar archive, and collects the checksums of its files.
type writer struct {
	tar  *tar.Writer
	sums strings.Builder
}

func (w *writer) add(one *content) error {
	body, size, err := one.open()
	if err != nil {
		return fmt.Errorf("write %q: %w", one.name, err)
	}
	defer body.Close()
	header := &tar.Header{Typeflag: tar.TypeReg, Name: one.name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0)}
	if one.executable {
		header.Mode = 0o755
	}
	if err := w.tar.WriteHeader(header); err != nil {
		return fmt.Errorf("write %q: %w", one.name, err)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w.tar, sum), body); err != nil {
		return fmt.Errorf("write %q: %w", one.name, err)
	}
	fmt.Fprintf(&w.sums, "%s  %s\n", hex.EncodeToString(sum.Sum(nil)), one.name)
	return nil
}
