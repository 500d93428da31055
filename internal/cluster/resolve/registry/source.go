package registry

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Source holds the manifests and blobs of an image. Callers must limit the size of the content and compare it with its
// digest.
type Source interface {
	// Manifest returns a manifest or an index, by tag or digest.
	Manifest(ctx context.Context, identifier string) (io.ReadCloser, error)
	// Blob returns the configuration of an image, or a layer.
	Blob(ctx context.Context, digest v1.Hash) (io.ReadCloser, error)
}

// These are the kinds of parts.
const (
	PartIndex    = "index"
	PartManifest = "manifest"
	PartConfig   = "image configuration"
	PartLayer    = "layer"
)

// Part is a manifest or a blob that was read completely. Its digest is in an earlier part, unless it is the first part.
type Part struct {
	Kind   string
	Digest string
	Size   int64
}

// trail reads from a source and records the parts that it has read.
type trail struct {
	from  Source
	parts []Part
}

// maxManifest bounds a manifest and the configuration of an image. A registry need not accept larger manifests (OCI
// distribution specification, "Pushing Manifests").
const maxManifest = 4 << 20

// manifest reads a manifest by tag or digest, and returns it with its digest. If identifier is a digest, the returned
// digest is equal to it.
func (t *trail) manifest(ctx context.Context, identifier string) (*manifest, v1.Hash, error) {
	content, digest, err := ReadManifest(ctx, t.from, identifier)
	if err != nil {
		return nil, digest, err
	}
	found, err := decodeManifest(content)
	if _, byTag := v1.NewHash(identifier); byTag != nil && errors.Is(err, errNoImage) {
		err = errNoManifest // no digest confirms that these bytes are correct
	}
	if err != nil {
		return nil, digest, err
	}
	kind := PartManifest
	if found.Manifests != nil {
		kind = PartIndex
	}
	t.parts = append(t.parts, Part{kind, digest.String(), int64(len(content))})
	return found, digest, nil
}

// ReadManifest reads a manifest or an index by tag or digest, within the bounds of this package, and returns it with
// its digest. If identifier is a digest, the returned digest is equal to it.
func ReadManifest(ctx context.Context, from Source, identifier string) ([]byte, v1.Hash, error) {
	wanted, err := v1.NewHash(identifier)
	byTag := err != nil
	if byTag {
		wanted.Algorithm = "sha256"
	}
	hasher, err := v1.Hasher(wanted.Algorithm)
	if err != nil {
		return nil, v1.Hash{}, errNoImage
	}
	body, err := from.Manifest(ctx, identifier)
	if err != nil {
		return nil, v1.Hash{}, err
	}
	defer body.Close()
	content, err := io.ReadAll(io.LimitReader(body, maxManifest+1))
	if err != nil {
		return nil, v1.Hash{}, sanitize(err)
	}
	if len(content) > maxManifest {
		return nil, v1.Hash{}, tooLarge("manifest", maxManifest)
	}
	hasher.Write(content)
	found := v1.Hash{Algorithm: wanted.Algorithm, Hex: hex.EncodeToString(hasher.Sum(nil))}
	if !byTag && found != wanted {
		return nil, v1.Hash{}, errWrongContent
	}
	return content, found, nil
}

// blob passes a blob to the function `use` (see readBlob).
func (t *trail) blob(ctx context.Context, kind string, of descriptor, use func(io.Reader) error) error {
	err := readBlob(ctx, t.from, of, use)
	if err == nil {
		t.parts = append(t.parts, Part{kind, of.Digest.String(), of.Size})
	}
	return err
}

// ReadBlob passes the configuration of an image to the function `use` and reads the configuration to its end (see
// readBlob).
func ReadBlob(ctx context.Context, from Source, digest v1.Hash, size int64, use func(io.Reader) error) error {
	if size > maxManifest {
		return tooLarge("configuration of the image", maxManifest)
	}
	return readBlob(ctx, from, descriptor{Digest: digest, Size: size}, use)
}

// readBlob passes the content of a blob to the function `use`. Unless the descriptor contains the content, readBlob
// also reads the content to its end. The results of the function are valid only if readBlob returns nil or the
// function's own error.
func readBlob(ctx context.Context, from Source, of descriptor, use func(io.Reader) error) error {
	if _, err := of.hasher(); err != nil {
		return err
	}
	if content, ok := of.inline(); ok {
		return use(bytes.NewReader(content))
	}
	body, err := from.Blob(ctx, of.Digest)
	if err != nil {
		return err
	}
	defer body.Close()
	return verified(body, of, use)
}

// verified passes content to the function `use`, reads the rest, and compares the size and the digest of the whole
// content with the descriptor. It returns the function's error only if the content matches the descriptor, so that
// forged content cannot cause a report that an image is broken.
func verified(content io.Reader, of descriptor, use func(io.Reader) error) error {
	hasher, err := of.hasher()
	if err != nil {
		return err
	}
	// The limit is one byte more than the expected size, so that verified detects longer content.
	limited := &io.LimitedReader{R: content, N: of.Size + 1}
	reader := io.TeeReader(limited, hasher)
	used := use(reader)
	if _, err := io.Copy(io.Discard, reader); err != nil {
		return sanitize(err)
	}
	if limited.N != 1 || hex.EncodeToString(hasher.Sum(nil)) != of.Digest.Hex {
		return errWrongContent
	}
	return used
}
