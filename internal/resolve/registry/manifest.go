package registry

import (
	"bytes"
	"context"
	"encoding/json"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// descriptor is what a manifest says of something else.
type descriptor struct {
	Digest   v1.Hash   `json:"digest"`
	Size     int64     `json:"size"`
	Platform *platform `json:"platform"`
}

type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
	Variant      string `json:"variant"`
}

// isFor reports whether an entry of an index is for a platform. An entry without one
// is for linux on amd64, by the convention of older indexes.
func (d *descriptor) isFor(wanted v1.Platform) bool {
	found := d.Platform.orUsual()
	return found.OS == wanted.OS && found.Architecture == wanted.Architecture &&
		(wanted.Variant == "" || found.Variant == wanted.Variant)
}

// manifest is an image's manifest, or an index of several. The lists stay as they are
// written: only one entry of either is needed, and millions of empty ones fit into a
// few megabytes.
type manifest struct {
	Config    *descriptor     `json:"config"`
	Layers    json.RawMessage `json:"layers"`
	Manifests json.RawMessage `json:"manifests"`
}

// decodeManifest takes a manifest that is either that of an image or an index. One
// that is both would be read in two ways under one digest.
func decodeManifest(content []byte) (*manifest, error) {
	var found manifest
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, errNoManifest
	}
	isImage, isIndex := found.Config != nil || found.Layers != nil, found.Manifests != nil
	if isImage == isIndex || isImage && found.Config == nil {
		return nil, errNoManifest
	}
	return &found, nil
}

// maxListed bounds the manifests, layers or labels that are looked at.
const maxListed = 10_000

// find returns the first entry of a list that fits, nil without one. It keeps one
// entry at a time.
func find(ctx context.Context, list json.RawMessage, fits func(*descriptor) bool) (*descriptor, error) {
	var found *descriptor
	err := eachEntry(ctx, list, '[', func(decoder *json.Decoder) (done bool, err error) {
		var entry descriptor
		if err := decoder.Decode(&entry); err != nil {
			return false, errNoManifest
		}
		if fits(&entry) {
			found = &entry
		}
		return found != nil, nil
	})
	return found, err
}

// eachEntry hands the decoder of a list or an object, which begins with start, to use at each
// entry, until that is done.
func eachEntry(ctx context.Context, content json.RawMessage, start json.Delim, use func(*json.Decoder) (done bool, err error)) error {
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

// entriesOf is the decoder of a list or an object, before its first entry; nil where there is null, or nothing.
func entriesOf(content json.RawMessage, start json.Delim) (*json.Decoder, error) {
	if content == nil {
		return nil, nil //nolint:nilnil // nothing has no entries
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	switch found, err := decoder.Token(); {
	case err != nil, found != nil && found != start:
		return nil, errNoManifest
	case found == nil:
		return nil, nil //nolint:nilnil // null has no entries
	}
	return decoder, nil
}
