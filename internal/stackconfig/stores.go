package stackconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// requiredStores supplies what the base's section for storage lacks to start: up
// to 0.3 every configuration has the section with two stores in it.
func (d *draft) requiredStores() {
	there := !yamlnode.IsNull(yamlnode.Get(d.root, "storage"))
	if !there && !d.rel.Storage.Required {
		return
	}
	var missing []string
	for i := range d.rel.Storage.Stores {
		if store := &d.rel.Storage.Stores[i]; store.Required && d.lacks(store) {
			missing = append(missing, store.Name)
		}
	}
	if len(missing) == 0 {
		return
	}
	s := storageWriter{draft: d}
	s.begin()
	s.complete()
	d.warn(Finding{ConfigPath: "storage.stores", Message: fmt.Sprintf(
		"the base configuration has no %s, and the server release %s does not start without; added with the release's defaults",
		strings.Join(missing, ", "), d.rel.Line)})
}

func (d *draft) lacks(store *release.Store) bool {
	return yamlnode.IsNull(yamlnode.At(d.root, strings.Split(store.Path, ".")...))
}

// neededStores supplies a store that only some settings want, and that the server
// does not start without then: access rules want one for the owners of vector
// stores. No field of the spec and no setting could write it.
func (d *draft) neededStores() {
	for i := range d.rel.Storage.Stores {
		store := &d.rel.Storage.Stores[i]
		served := slices.ContainsFunc(d.index.of(store.RequiredBy), func(e *entry) bool { return e.enabled })
		if !served || !d.lacks(store) {
			continue
		}
		if setting := d.firstSet(store); setting != "" {
			origin := Origin{Note: "needed by " + setting}
			s := storageWriter{draft: d}
			s.begin()
			s.write(under(s.stores, store.Name), d.reference(store, origin), origin)
			s.complete()
			d.warn(Finding{ConfigPath: store.Path, Message: fmt.Sprintf("%s and providers of the API %s need this store to start; added it in %s",
				setting, apiField(store.RequiredBy), defaultName(store.Family))})
		}
	}
}

// namedStores places the stores that only settings name, as storage.stores.vector_stores: spec.storage says where the data
// of a family lies, and settings may not.
func (d *draft) namedStores() {
	for i := range d.rel.Storage.Stores {
		store := &d.rel.Storage.Stores[i]
		keys := strings.Split(store.Path, ".")
		node := yamlnode.At(d.root, keys...)
		named := store.Default == nil && d.in.Settings.Decides(keys...) && !yamlnode.IsNull(node) && node.Kind == yaml.MappingNode
		if !named || yamlnode.Get(node, "backend") != nil {
			continue
		}
		s := storageWriter{draft: d}
		s.begin()
		s.write(under(node, "backend"), yamlnode.String(defaultName(store.Family)), derived(d.in.Settings.Path.Child(store.Path), "default backend"))
		s.complete()
	}
}

// reference is a store in the default backend of its family, in a table or a
// namespace of its name.
func (d *draft) reference(store *release.Store, origin Origin) *yaml.Node {
	node := yamlnode.Map()
	key := "table_name"
	if store.Family == release.KV {
		key = "namespace"
	}
	d.write(under(node, key), yamlnode.String(store.Name), origin)
	d.write(under(node, "backend"), yamlnode.String(defaultName(store.Family)), origin)
	return node
}

// firstSet is the first of the settings that want a store, empty when none is made.
func (d *draft) firstSet(store *release.Store) string {
	for _, setting := range store.RequiredWith {
		path, value, exact := strings.Cut(setting, "=")
		node := yamlnode.At(d.root, strings.Split(path, ".")...)
		if !yamlnode.IsNull(node) && (exact && node.Value == value || !exact && len(node.Content) > 0) {
			return path
		}
	}
	return ""
}
