package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// single contains the manifest and the configuration of an image to label.
type single struct {
	manifest, config object
	// layer is the added layer. Nil means that no layer is added.
	layer *Blob
}

// createdBy is the text that names this command in the history entries of its layers.
const createdBy = "kubectl llamastack image label"

// label sets the labels. If the new labels contain a configuration, label first removes the labels and the layer with
// the earlier configuration.
func (s *single) label(ctx context.Context, from registry.Source, digest v1.Hash, wanted *registry.Labels) error {
	inner, err := s.config.object("config")
	if err != nil {
		return err
	}
	labels, err := labelsOf(inner)
	if err != nil {
		return err
	}
	if wanted.Config != nil {
		if err := s.replaceLayer(ctx, from, digest, wanted); err != nil {
			return err
		}
		for _, name := range registry.ConfigLabels {
			delete(labels, name)
		}
	}
	named := ""
	if s.layer != nil {
		named = s.layer.Digest.String()
	}
	maps.Copy(labels, wanted.Texts(named))
	inner.set("Labels", labels)
	s.config.set("config", inner)
	return nil
}

// labelsOf returns the labels of an image.
func labelsOf(config object) (map[string]string, error) {
	labels := map[string]string{}
	if err := json.Unmarshal(config["Labels"], &labels); config["Labels"] != nil && err != nil {
		return nil, errors.New("the labels of the image are not strings; build the image again")
	}
	if labels == nil { // null in JSON
		labels = map[string]string{}
	}
	return labels, nil
}

// replaceLayer removes the layer with the earlier configuration, and adds a layer for a configuration that is too large
// for a label.
func (s *single) replaceLayer(
	ctx context.Context, from registry.Source, digest v1.Hash, wanted *registry.Labels,
) error {
	if err := s.removeLayer(ctx, from, digest); err != nil {
		return err
	}
	if !wanted.InLayer() {
		return nil
	}
	return s.addLayer(wanted.Config)
}

// addLayer adds a layer with a configuration on top of the other layers.
func (s *single) addLayer(config []byte) error {
	content := layerOf(config)
	made := blobOf(content.packed, types.OCILayer)
	layers, ids, history, err := s.lists()
	if err != nil {
		return err
	}
	s.layer = &made
	if len(filled(history)) == len(layers) && history != nil {
		s.config.set("history", append(history, encode(map[string]string{"created_by": createdBy})))
	}
	entry := object{}
	entry.set("mediaType", string(types.OCILayer))
	entry.point(made.Digest, len(made.Content))
	s.manifest.set("layers", append(layers, entry.encode()))
	return s.setIDs(append(ids, encode(digestOf(content.plain).String())))
}

// removeLayer removes the layer with the image's current configuration if this command created the layer. That is the
// case if layerOf returns an equal layer for the configuration.
func (s *single) removeLayer(ctx context.Context, from registry.Source, digest v1.Hash) error {
	read, err := registry.Inspect(ctx, from, digest.String(), v1.Platform{})
	if err != nil {
		return nil //nolint:nilerr // labels that cannot be read do not refer to a layer of this command
	}
	ours := digestOf(layerOf(read.Config).packed)
	layers, ids, history, err := s.lists()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(layers, func(entry json.RawMessage) bool {
		var found v1.Descriptor
		return json.Unmarshal(entry, &found) == nil && found.Digest == ours
	})
	if at < 0 {
		return nil
	}
	if places := filled(history); len(places) == len(layers) {
		s.config.set("history", slices.Delete(history, places[at], places[at]+1))
	}
	s.manifest.set("layers", slices.Delete(layers, at, at+1))
	return s.setIDs(slices.Delete(ids, at, at+1))
}

// lists returns the layers of the image, their diff IDs, and the history entries.
func (s *single) lists() (layers, ids, history []json.RawMessage, err error) {
	var filesystem object
	if layers, err = s.manifest.list("layers"); err == nil {
		filesystem, err = s.config.object("rootfs")
	}
	if err == nil {
		ids, err = filesystem.list("diff_ids")
	}
	if err == nil {
		history, err = s.config.list("history")
	}
	if err == nil && len(ids) != len(layers) {
		err = fmt.Errorf("the number of layers in the image (%d) differs from the number of entries in rootfs.diff_ids (%d); build the image again", len(layers), len(ids))
	}
	return layers, ids, history, err
}

func (s *single) setIDs(ids []json.RawMessage) error {
	filesystem, err := s.config.object("rootfs")
	if err != nil {
		return err
	}
	filesystem.set("diff_ids", ids)
	s.config.set("rootfs", filesystem)
	return nil
}

// filled returns the indexes of the history entries that have a layer.
func filled(history []json.RawMessage) []int {
	var places []int
	for i, entry := range history {
		var found v1.History
		if json.Unmarshal(entry, &found) == nil && !found.EmptyLayer {
			places = append(places, i)
		}
	}
	return places
}
