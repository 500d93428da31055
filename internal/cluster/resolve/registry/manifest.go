package registry

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// descriptor describes content that a manifest refers to.
type descriptor struct {
	Digest   v1.Hash   `json:"digest"`
	Size     int64     `json:"size"`
	Platform *platform `json:"platform"`
	Data     embedded  `json:"data"`
}

// MaxEmbedded is the maximum size, in bytes, of content that is read from a descriptor. Larger content is read from its
// blob.
const MaxEmbedded = 32 << 10

// embedded is content within its own descriptor, as the OCI image specification allows (descriptor.md, "data").
// Embedded content saves a request. The same content is always available as a blob.
type embedded []byte

// UnmarshalJSON drops content that is too large, and content that is not in base64.
func (e *embedded) UnmarshalJSON(text []byte) error {
	*e = nil
	if base64.StdEncoding.DecodedLen(len(text)) > MaxEmbedded+4 {
		return nil
	}
	var content []byte
	if json.Unmarshal(text, &content) == nil && len(content) <= MaxEmbedded {
		*e = content
	}
	return nil
}

// inline returns the embedded content, and whether its size and digest match the descriptor.
func (d *descriptor) inline() ([]byte, bool) {
	hasher, err := d.hasher()
	if err != nil || len(d.Data) == 0 || int64(len(d.Data)) != d.Size {
		return nil, false
	}
	_, _ = hasher.Write(d.Data) // writing to a hash never fails
	return d.Data, hex.EncodeToString(hasher.Sum(nil)) == d.Digest.Hex
}

// hasher returns a hash that uses the same algorithm as the digest of the described content.
func (d *descriptor) hasher() (hash.Hash, error) {
	hasher, err := v1.Hasher(d.Digest.Algorithm)
	if err != nil || d.Size < 0 {
		return nil, errNoImage
	}
	return hasher, nil
}

type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
}

// isFor reports whether an entry in an index is for a platform. An entry without a platform is for linux on amd64, by
// the convention of older indexes.
func (d *descriptor) isFor(wanted v1.Platform) bool {
	found := d.Platform.orUsual()
	return found.OS == wanted.OS && found.Architecture == wanted.Architecture &&
		(wanted.Variant == "" || found.Variant == wanted.Variant)
}

// manifest is the manifest of an image, or an index of several images. The lists remain encoded, because only one entry
// of each is needed, and millions of empty entries fit into a few megabytes.
type manifest struct {
	SchemaVersion json.RawMessage `json:"schemaVersion"`
	Config        *descriptor     `json:"config"`
	Layers        json.RawMessage `json:"layers"`
	Manifests     json.RawMessage `json:"manifests"`
}

// decodeManifest decodes either the manifest of an image or an index. It rejects content that is both, because such
// content could be read in two ways under one digest.
func decodeManifest(content []byte) (*manifest, error) {
	var found manifest
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, errNoImage
	}
	isImage, isIndex := found.Config != nil || found.Layers != nil, found.Manifests != nil
	if string(found.SchemaVersion) == "1" {
		return nil, errSchema1
	}
	if isImage == isIndex || isImage && found.Config == nil {
		return nil, errNoImage
	}
	return &found, nil
}

// maxListed bounds the number of manifests, layers or labels that eachEntry visits.
const maxListed = 10_000

// find returns the first entry in a list for which the function `fits` returns true, or nil if there is no such entry.
// It keeps one entry in memory at a time.
func find(ctx context.Context, list json.RawMessage, fits func(*descriptor) bool) (*descriptor, error) {
	var found *descriptor
	err := eachEntry(ctx, list, '[', func(decoder *json.Decoder) (done bool, err error) {
		var entry descriptor
		if err := decoder.Decode(&entry); err != nil {
			return false, errNoImage
		}
		if fits(&entry) {
			found = &entry
		}
		return found != nil, nil
	})
	return found, err
}

// eachEntry passes each entry in a list or an object to the function `use`, with the decoder positioned at the entry,
// until `use` returns true or an error. The parameter start is the first character of the list or the object.
func eachEntry(
	ctx context.Context, content json.RawMessage, start json.Delim, use func(*json.Decoder) (done bool, err error),
) error {
	decoder, err := entriesOf(content, start)
	if err != nil || decoder == nil {
		return err
	}
	for count := 0; decoder.More(); count++ {
		if count == maxListed {
			return errTooMany
		}
		if err := ctx.Err(); err != nil {
			return sanitize(err)
		}
		if done, err := use(decoder); done || err != nil {
			return err
		}
	}
	return nil
}

// entriesOf returns a decoder for a list or an object, positioned before its first entry. It returns nil if the content
// is null or empty.
func entriesOf(content json.RawMessage, start json.Delim) (*json.Decoder, error) {
	if content == nil {
		return nil, nil //nolint:nilnil // missing content has no entries
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	switch found, err := decoder.Token(); {
	case err != nil, found != nil && found != start:
		return nil, errNoImage
	case found == nil:
		return nil, nil //nolint:nilnil // null has no entries
	}
	return decoder, nil
}
