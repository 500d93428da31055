package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// Blob is content to write.
type Blob struct {
	Digest    v1.Hash
	Content   []byte
	MediaType types.MediaType
}

// Manifest is a manifest or an index to write.
type Manifest struct {
	Digest  v1.Hash
	Content []byte
	// MediaTypeText is the media type. The method MediaType returns it for registry clients.
	MediaTypeText string
}

// RawManifest returns the content.
func (m *Manifest) RawManifest() ([]byte, error) { return m.Content, nil }

// MediaType returns the media type.
func (m *Manifest) MediaType() (types.MediaType, error) { return types.MediaType(m.MediaTypeText), nil }

// Changed contains the digests of one image before and after the change.
type Changed struct {
	Before, After v1.Hash
	// Platform is the platform of the image in the index. It is nil if there is no index, or if the index entry does not
	// name a platform.
	Platform *v1.Platform
}

// Labeled is the result of labeling an image or an index, with the content to write.
type Labeled struct {
	// Before is the digest of the original manifest. Top is the new manifest.
	Before v1.Hash
	Top    Manifest
	Images []Changed
	// Kept is the number of index entries, such as attestations, that are not runnable images.
	Kept int
	// Manifests lists the new manifests that the index refers to. Blobs lists the new blobs that manifests refer to.
	Manifests []Manifest
	Blobs     []Blob
}

// Label returns an image with labels, or an index whose images have the labels. The result has OCI media types, even if
// the original has Docker media types. Label writes nothing.
func Label(ctx context.Context, from registry.Source, identifier string, wanted *registry.Labels) (*Labeled, error) {
	top, digest, err := readObject(ctx, from, identifier)
	if err != nil {
		return nil, err
	}
	l := labeller{from: from, wanted: wanted, result: &Labeled{Before: digest}}
	switch {
	case top["manifests"] != nil:
		err = l.index(ctx, top)
	case top["config"] != nil:
		err = l.image(ctx, top, Changed{Before: digest})
		l.result.Manifests = nil // the only manifest is Top
	default:
		err = errors.New("is neither an image manifest nor an index; use a container image")
	}
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", digest, err)
	}
	l.result.Top = manifestOf(top)
	return l.result, nil
}

// readObject reads a manifest as a JSON object, and returns its digest.
func readObject(ctx context.Context, from registry.Source, identifier string) (object, v1.Hash, error) {
	content, digest, err := registry.ReadManifest(ctx, from, identifier)
	if err != nil {
		return nil, digest, err
	}
	found, err := decodeObject(content)
	if err != nil {
		return nil, digest, fmt.Errorf("manifest %s %w", digest, err)
	}
	return found, digest, nil
}

// labeller labels an image or all images in an index, and collects the result.
type labeller struct {
	from   registry.Source
	wanted *registry.Labels
	result *Labeled
}

// referenceType is the annotation on index entries, such as attestations, that describe another entry.
const referenceType = "vnd.docker.reference.type"

// index labels each image in an index.
func (l *labeller) index(ctx context.Context, top object) error {
	var entries []object
	if err := json.Unmarshal(top["manifests"], &entries); err != nil {
		return errors.New("manifests is not a list; build the image again")
	}
	for i, entry := range entries {
		var found v1.Descriptor
		if err := json.Unmarshal(entry.encode(), &found); err != nil {
			return fmt.Errorf("manifests[%d] is not a descriptor; build the image again", i)
		}
		if err := l.entry(ctx, entry, &found); err != nil {
			return fmt.Errorf("manifests[%d]: %w", i, err)
		}
	}
	if len(l.result.Images) == 0 {
		return errors.New("the index has no image; use an index that contains a container image")
	}
	top.set("manifests", entries)
	top.convertType()
	return nil
}

// entry labels the image of an index entry, and updates the entry. It keeps entries that are not runnable images.
func (l *labeller) entry(ctx context.Context, entry object, found *v1.Descriptor) error {
	switch {
	case found.MediaType.IsIndex():
		return errors.New("is an index within an index; the operator does not read nested indexes")
	case found.Annotations[referenceType] != "", found.Platform != nil && found.Platform.OS == "unknown", !found.MediaType.IsImage():
		l.result.Kept++
		return nil
	}
	manifest, digest, err := readObject(ctx, l.from, found.Digest.String())
	if err != nil {
		return err
	}
	of, err := configOf(manifest)
	if err != nil {
		return err
	}
	if !of.runs() {
		l.result.Kept++
		return nil
	}
	if err := l.image(ctx, manifest, Changed{Before: digest, Platform: found.Platform}); err != nil {
		return err
	}
	made := l.result.Manifests[len(l.result.Manifests)-1]
	entry.point(made.Digest, len(made.Content))
	entry.convertType()
	return nil
}

// descriptor is the descriptor of the configuration in an image manifest.
type descriptor struct {
	object
	v1.Descriptor
}

// runs reports whether the configuration belongs to a runnable image. Charts and models, for example, have
// configurations of other media types.
func (d *descriptor) runs() bool { return d.MediaType.IsConfig() }

// configOf returns the descriptor of the configuration in an image manifest.
func configOf(manifest object) (*descriptor, error) {
	found := &descriptor{}
	var err error
	if found.object, err = decodeObject(manifest["config"]); err != nil {
		return nil, errors.New("config is not a descriptor; build the image again")
	}
	if err := json.Unmarshal(manifest["config"], &found.Descriptor); err != nil {
		return nil, errors.New("config is not a descriptor; build the image again")
	}
	return found, nil
}

// image labels one image.
func (l *labeller) image(ctx context.Context, manifest object, changed Changed) error {
	of, err := configOf(manifest)
	if err != nil {
		return err
	}
	if !of.runs() {
		return fmt.Errorf("is not a runnable image: its configuration has the media type %q; use a container image", of.MediaType)
	}
	config, err := l.readConfig(ctx, of)
	if err != nil {
		return err
	}
	if err := convertTypes(manifest); err != nil {
		return err
	}
	one := single{manifest: manifest, config: config}
	if err := one.label(ctx, l.from, changed.Before, l.wanted); err != nil {
		return err
	}
	if one.layer != nil {
		l.add(*one.layer)
	}
	l.add(of.replace(manifest, config))
	top := manifestOf(manifest)
	changed.After = top.Digest
	l.result.Images = append(l.result.Images, changed)
	l.result.Manifests = append(l.result.Manifests, top)
	return nil
}

// readConfig reads the configuration of an image.
func (l *labeller) readConfig(ctx context.Context, of *descriptor) (object, error) {
	var content []byte
	err := registry.ReadBlob(ctx, l.from, of.Digest, of.Size, func(body io.Reader) error {
		var err error
		content, err = io.ReadAll(body)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the configuration of the image: %w", err)
	}
	config, err := decodeObject(content)
	if err != nil {
		return nil, fmt.Errorf("the configuration of the image %w; build the image again", err)
	}
	return config, nil
}

// replace makes a manifest refer to a changed configuration, and returns the blob of the configuration.
func (d *descriptor) replace(manifest, config object) Blob {
	d.convertType()
	made := blobOf(config.encode(), types.MediaType(d.text("mediaType")))
	d.point(made.Digest, len(made.Content))
	if len(made.Content) <= registry.MaxEmbedded {
		d.set("data", made.Content) // the operator then sends no request for the configuration
	}
	manifest.set("config", d.object)
	return made
}

// add adds a blob to write, unless the result already contains it.
func (l *labeller) add(one Blob) {
	for i := range l.result.Blobs {
		if l.result.Blobs[i].Digest == one.Digest {
			return
		}
	}
	l.result.Blobs = append(l.result.Blobs, one)
}

func blobOf(content []byte, mediaType types.MediaType) Blob {
	return Blob{Digest: digestOf(content), Content: content, MediaType: mediaType}
}

// manifestOf returns a manifest to write. If the content has no media type, the manifest has the media type of an OCI
// index or an OCI manifest.
func manifestOf(content object) Manifest {
	mediaType := content.text("mediaType")
	switch {
	case mediaType != "":
	case content["manifests"] != nil:
		mediaType = string(types.OCIImageIndex)
	default:
		mediaType = string(types.OCIManifestSchema1)
	}
	encoded := content.encode()
	return Manifest{Digest: digestOf(encoded), Content: encoded, MediaTypeText: mediaType}
}
