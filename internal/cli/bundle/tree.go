package bundle

import (
	"bytes"
	"cmp"
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
	// maxManifest bounds the size in bytes of a manifest, and of a layout's index.
	maxManifest = 4 << 20
	// maxDepth bounds the nesting of indexes.
	maxDepth = 3
	// maxParts bounds the number of manifests and blobs of one image, and the entries of each list in a manifest.
	maxParts = 5000
	// maxManifests bounds the size in bytes of all manifests of one image, which are in memory together.
	maxManifests = 64 << 20
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

// manifest contains the descriptors in an index or in the manifest of an image.
type manifest struct {
	Manifests descriptors    `json:"manifests"`
	Config    *v1.Descriptor `json:"config"`
	Layers    descriptors    `json:"layers"`
}

// descriptors is a list of at most maxParts entries. An entry of three bytes needs two hundred bytes of memory.
type descriptors []v1.Descriptor

// UnmarshalJSON stops at the first entry too many.
func (d *descriptors) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	start, err := decoder.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('[') {
		return errors.New("not a list")
	}
	found := descriptors{}
	for decoder.More() {
		if len(found) == maxParts {
			return damaged("a manifest lists more than %d entries", maxParts)
		}
		var entry v1.Descriptor
		if err := decoder.Decode(&entry); err != nil {
			return err
		}
		found = append(found, entry)
	}
	*d = found
	return nil
}

// parts returns each part of an image once, in the order in which a registry accepts them: a manifest follows the parts
// that it refers to.
func parts(ctx context.Context, from blobs, image v1.Descriptor) ([]part, error) {
	w := walk{from: from, known: map[v1.Hash]bool{}}
	if err := w.manifest(ctx, image, 0); err != nil {
		return nil, err
	}
	return w.found, nil
}

// walk collects the parts of an image.
type walk struct {
	from  blobs
	known map[v1.Hash]bool
	found []part
	size  int // of all manifests
}

// manifest adds the parts that a manifest refers to, and then the manifest.
func (w *walk) manifest(ctx context.Context, of v1.Descriptor, depth int) error {
	if w.known[of.Digest] {
		return nil
	}
	if depth > maxDepth {
		return damaged("index %s is nested too deeply in other indexes", of.Digest)
	}
	content, found, err := readManifest(w.from, of)
	if err != nil {
		return err
	}
	if w.size += len(content); w.size > maxManifests {
		return damaged("the manifests of the image are larger than %d bytes", maxManifests)
	}
	for i := range found.Manifests {
		if err := w.manifest(ctx, found.Manifests[i], depth+1); err != nil {
			return err
		}
	}
	if found.Config != nil {
		found.Layers = append(found.Layers, *found.Config)
	}
	for i := range found.Layers {
		if err := w.add(ctx, part{Descriptor: found.Layers[i]}); err != nil {
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

// readManifest reads and decodes a manifest, and verifies its size and digest.
func readManifest(from blobs, of v1.Descriptor) (content []byte, found manifest, err error) {
	if of.Size > maxManifest {
		return nil, found, damaged("manifest %s is larger than %d bytes", of.Digest, maxManifest)
	}
	body, err := openVerified(from, of)
	if err != nil {
		return nil, found, err
	}
	defer body.Close()
	if content, err = io.ReadAll(body); err != nil {
		return nil, found, err
	}
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, found, cmp.Or(Damage(err), damaged("manifest %s is not JSON", of.Digest))
	}
	if found.Config == nil && found.Manifests == nil {
		return nil, found, damaged("manifest %s is neither an image manifest nor an index", of.Digest)
	}
	return content, found, nil
}

// Damage returns the damageError in the chain of err, or nil if the chain contains none.
func Damage(err error) error {
	if found, ok := errors.AsType[*damageError](err); ok {
		return found
	}
	return nil
}

// damageError is the error for a damaged archive.
type damageError struct{ text string }

// Error returns the description.
func (e *damageError) Error() string { return e.text }

func damaged(format string, args ...any) error { return &damageError{fmt.Sprintf(format, args...)} }

// openVerified opens a blob. If the content does not match the digest, the last read returns an error.
func openVerified(from blobs, of v1.Descriptor) (io.ReadCloser, error) {
	body, size, err := from.open(of.Digest)
	if err != nil {
		return nil, err
	}
	hasher, err := v1.Hasher(of.Digest.Algorithm)
	if err != nil {
		return nil, errors.Join(damaged("blob %s has a digest with an unknown algorithm", of.Digest), body.Close())
	}
	if size != of.Size {
		return nil, errors.Join(damaged("blob %s has %d bytes, but its manifest specifies %d", of.Digest, size, of.Size),
			body.Close())
	}
	return &verifier{ReadCloser: body, hasher: hasher, of: of, left: size}, nil
}

// verifier reads content, and compares it with a digest. If they do not match, the last read returns an error.
type verifier struct {
	io.ReadCloser

	hasher hash.Hash
	of     v1.Descriptor
	left   int64
}

// Read implements io.Reader. It compares the digest as soon as it has read the last byte, because a caller that knows
// the size might not read until io.EOF.
func (v *verifier) Read(into []byte) (int, error) {
	n, err := v.ReadCloser.Read(into)
	_, _ = v.hasher.Write(into[:n]) // a hash accepts every write
	v.left -= int64(n)
	if (v.left <= 0 || errors.Is(err, io.EOF)) && hex.EncodeToString(v.hasher.Sum(nil)) != v.of.Digest.Hex {
		return n, damaged("the content of blob %s does not match its digest", v.of.Digest)
	}
	return n, err
}
