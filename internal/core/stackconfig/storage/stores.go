package storage

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// AddRequired adds the stores that the release requires in the storage section. In 0.3, every configuration must have
// two stores, and a third if the server serves the inference API (server fact 48, server fact 49).
func AddRequired(d *draft.Draft) {
	if yamlnode.IsNull(yamlnode.Get(d.Root, "storage")) && !d.Release.Storage.Required {
		return
	}
	var missing []string
	for i := range d.Release.Storage.Stores {
		if store := &d.Release.Storage.Stores[i]; Required(d, store) && Lacks(d, store) {
			missing = append(missing, store.Name)
		}
	}
	if len(missing) == 0 {
		return
	}
	s := storageWriter{Draft: d}
	s.begin()
	s.complete()
	d.Warn(draft.Finding{ConfigPath: "storage.stores", Message: fmt.Sprintf(
		"server release %s does not start without these stores, which the base configuration does not have: %s; the operator added the release's defaults",
		d.Release.Line, strings.Join(missing, ", "))})
}

// Required reports whether the server needs a store to start, regardless of the settings.
func Required(d *draft.Draft, store *release.Store) bool {
	return store.Required || store.NeededByAPI() && d.ServesAPI(store.RequiredBy)
}

// Lacks reports whether the configuration lacks a store.
func Lacks(d *draft.Draft, store *release.Store) bool {
	return yamlnode.IsNull(yamlnode.At(d.Root, strings.Split(store.Path, ".")...))
}

// AddNeeded adds a missing store that only some settings require, because the server does not start without the store:
// access rules require a store for the owners of vector stores (server fact 52). No field of the spec adds this store.
func AddNeeded(d *draft.Draft) {
	for i := range d.Release.Storage.Stores {
		store := &d.Release.Storage.Stores[i]
		if setting := LackedWith(d, store); setting != "" {
			origin := draft.Origin{Note: "needed by " + setting}
			s := storageWriter{Draft: d}
			s.begin()
			s.Write(draft.Under(s.stores, store.Name), storeReference(d, store, origin), origin)
			s.complete()
			d.Warn(draft.Finding{ConfigPath: store.Path, Message: fmt.Sprintf("with %s and a provider of the API %s, the server does not start without this store, so the operator added the store to the backend %s",
				setting, draft.APIField(store.RequiredBy), defaultName(store.Family))})
		}
	}
}

// LackedWith returns the setting with which the server does not start without a store that the configuration lacks, or
// an empty string.
func LackedWith(d *draft.Draft, store *release.Store) string {
	served := slices.ContainsFunc(d.Index.Of(store.RequiredBy), func(e *draft.Provider) bool { return e.Enabled })
	if !served || !Lacks(d, store) {
		return ""
	}
	return firstSet(d, store)
}

// PlaceNamed sets the backend of stores that are named only in the settings, such as storage.stores.vector_stores,
// because spec.storage, not the settings, determines where the data of a family is stored.
func PlaceNamed(d *draft.Draft) {
	for i := range d.Release.Storage.Stores {
		store := &d.Release.Storage.Stores[i]
		keys := strings.Split(store.Path, ".")
		node := yamlnode.At(d.Root, keys...)
		named := store.Default == nil && d.Intent.Settings.Decides(keys...) && !yamlnode.IsNull(node) &&
			node.Kind == yaml.MappingNode
		if !named || yamlnode.Get(node, "backend") != nil {
			continue
		}
		s := storageWriter{Draft: d}
		s.begin()
		s.Write(draft.Under(node, "backend"), yamlnode.String(defaultName(store.Family)), draft.Derived(d.Intent.Settings.Path.Child(store.Path), "default backend"))
		s.complete()
	}
}

// storeReference returns a store in the default backend of its family, in a table or namespace with the store's name.
func storeReference(d *draft.Draft, store *release.Store, origin draft.Origin) *yaml.Node {
	node := yamlnode.Map()
	key := "table_name"
	if store.Family == release.KV {
		key = "namespace"
	}
	d.Write(draft.Under(node, key), yamlnode.String(store.Name), origin)
	d.Write(draft.Under(node, "backend"), yamlnode.String(defaultName(store.Family)), origin)
	return node
}

// firstSet returns the first of the settings that require a store, or an empty string when none is set.
func firstSet(d *draft.Draft, store *release.Store) string {
	for _, setting := range store.RequiredWith {
		path, value, exact := strings.Cut(setting, "=")
		node := yamlnode.At(d.Root, strings.Split(path, ".")...)
		if !yamlnode.IsNull(node) && (exact && node.Value == value || !exact && len(node.Content) > 0) {
			return path
		}
	}
	return ""
}
