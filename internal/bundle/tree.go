package bundle

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// maxManifest bounds a manifest and the index of a layout.
	maxManifest = 4 << 20
	// maxDepth bounds the nesting of indexes.
	maxDepth = 3
	// maxParts bounds the manifests and blobs of one image.
	maxParts = 5000
)

// blobs opens the blobs of a layout by their digest.
type blobs interface {
	open(digest v1.Hash) (io.ReadCloser, int64, error)
}

// part is a manifest or a blob of an image.
type part struct {
	v1.Descriptor
	// content is the content of a manifest. It is nil for a blob.
	content []byte
}

// manifest holds the parts that an index or the manifest of an image names.
type manifest struct {
	Manifests []v1.Descriptor `json:"manifests"`
	Config    *v1.Descriptor  `json:"config"`
	Layers    []v1.Descriptor `json:"layers"`
}

// parts returns all parts of an image, each once, in the order in which a registry accepts them: the parts that a
// manifest names come before it.
func parts(ctx context.Context, from blobs, image v1.Descriptor) ([]part, error) {
	w := walk{from: from, known: map[v1.Hash]bool{}}
	if err := w.manifest(ctx, image, 0); err != nil {
		return nil, err
	}
	return w.found, nil
}

type walk struct {
	from  blobs
	known map[v1.Hash]bool
	found []part
}

func (w *walk) manifest(ctx context.Context, of v1.Descriptor, depth int) error {
	if w.known[of.Digest] {
		return nil
	}
	if depth > maxDepth {
		return damaged("index %s is nested too deeply in other indexes", of.Digest)
	}
	content, err := readManifest(w.from, of)
	if err != nil {
		return err
	}
	var says manifest
	if err := json.Unmarshal(content, &says); err != nil {
		return damaged("manifest %s is not JSON", of.Digest)
	}
	if says.Config == nil && says.Manifests == nil {
		return damaged("manifest %s is neither an image manifest nor an index", of.Digest)
	}
	for i := range says.Manifests {
		if err := w.manifest(ctx, says.Manifests[i], depth+1); err != nil {
			return err
		}
	}
	if says.Config != nil {
		says.Layers = append(says.Layers, *says.Config)
	}
	for i := range says.Layers {
		if err := w.add(ctx, part{Descriptor: says.Layers[i]}); err != nil {
			return err
		}
	}
	return w.add(ctx, part{Descriptor: of, content: content})
}

func (w *walk) add(ctx context.Context, one part) error {
	if w.known[one.Digest] {
		return nil
	}
	if len(w.found) == maxParts {
		return damaged("the image has more than %d manifests and layers", maxParts)
	}
	w.known[one.Digest] = true
	w.found = append(w.found, one)
	return ctx.Err()
}

// readManifest reads a manifest and verifies its size and digest.
func readManifest(from blobs, of v1.Descriptor) ([]byte, error) {
	if of.Size > maxManifest {
		return nil, damaged("manifest %s is larger than %d bytes", of.Digest, maxManifest)
	}
	body, err := openVerified(from, of)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// Damage returns the part of an error that describes a damaged archive, or nil for any other error.
func Damage(err error) error {
	if found, ok := errors.AsType[*damageError](err); ok {
		return found
	}
	return nil
}

// damageError describes the damage of an archive.
type damageError struct{ text string }

// Error returns the description.
func (e *damageError) Error() string { return e.text }

func damaged(format string, args ...any) error { return &damageError{fmt.Sprintf(format, args...)} }

// openVerified opens a blob. If the content does not match the digest, the last bytes are returned with an error.
func openVerified(from blobs, of v1.Descriptor) (io.ReadCloser, error) {
	body, size, err := from.open(of.Digest)
	if err != nil {
		return nil, err
	}
	hasher, err := v1.Hasher(of.Digest.Algorithm)
	if err != nil {
		return nil, errors.Join(damaged("blob %s has a digest of an unknown kind", of.Digest), body.Close())
	}
	if size != of.Size {
		return nil, errors.Join(damaged("blob %s has %d bytes, but its manifest specifies "+
			"%d", of.Digest, size, of.Size), body.Close())
	}
	return &verifier{ReadCloser: body, hasher: hasher, of: of, left: size}, nil
}

// verifier returns an error at the end of content that does not match its digest.
type verifier struct {
	io.ReadCloser

	hasher hash.Hash
	of     v1.Descriptor
	left   int64
}

// Read reads and verifies. It verifies with the last byte, because a reader with a known size may not read any further.
func (v *verifier) Read(into []byte) (int, error) {
	n, err := v.ReadCloser.Read(into)
	_, _ = v.hasher.Write(into[:n]) // a hash accepts every write
	v.left -= int64(n)
	if (v.left <= 0 || errors.Is(err, io.EOF)) && hex.EncodeToString(v.hasher.Sum(nil)) != v.of.Digest.Hex {
		return n, damaged("the content of blob %s does not match its digest: the archive is damaged", v.of.Digest)
	}
	return n, err
}
