package storage

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Place replaces the backend of each family for which the user configured one. The other backends of the base are
// unchanged (FR-053). The user's backends are named kv_default and sql_default, because the defaults of the server's
// stores refer to these names (server fact 47). With other names, the configuration would have to list every store.
//
// Place returns the location of the server's registry and the values that are derived from Secrets. The location is nil
// when the registry needs no changes.
func Place(d *draft.Draft, registers bool) (*Registry, []secretvalue.Derived) {
	if d.Release.Storage.Inline {
		return nil, inlineStorage(d)
	}
	kv, sql := d.Intent.Storage.KV, d.Intent.Storage.SQL
	if kv == nil && sql == nil && !registers && yamlnode.IsNull(yamlnode.At(d.Root, "storage", "stores", "metadata")) {
		return &Registry{}, nil // by default, the server uses its own SQLite file
	}
	s := storageWriter{Draft: d}
	s.begin()
	if kv != nil {
		s.replace(release.KV, kv)
	}
	if sql != nil {
		s.replace(release.SQL, sql)
	}
	if kv != nil || sql != nil || registers {
		s.complete()
	}
	return s.registryNamespace(), s.derived
}

type storageWriter struct {
	*draft.Draft
	backends, stores *yaml.Node
	// derived are the backend values that are derived from Secrets.
	derived []secretvalue.Derived
}

func (s *storageWriter) begin() {
	section := s.Section(s.Root, "storage", s.ReleaseDefault())
	s.backends = s.Section(section, "backends", s.ReleaseDefault())
	s.stores = s.Section(section, "stores", s.ReleaseDefault())
}

func defaultName(family string) string {
	if family == release.SQL {
		return release.SQLDefault
	}
	return release.KVDefault
}

// replace replaces the base's backends in a family with the user's backend, and changes all references to them.
func (s *storageWriter) replace(family string, store *intent.Store) {
	kind, ok := s.kind(family, store)
	if !ok {
		return
	}
	old := s.ofFamily(family)
	node := s.backend(kind, store, old)
	gone := make(map[string]bool, len(old))
	for _, name := range old {
		gone[name] = name != defaultName(family)
	}
	s.removeBackends(gone)
	s.repoint(s.Root, gone, defaultName(family), store.Path)
	s.Write(draft.Under(s.backends, defaultName(family)), node, draft.From(store.Path))
}

// kind returns the kind of backend that the user requests. It reports an error if the release does not have that kind.
func (s *storageWriter) kind(family string, store *intent.Store) (release.Backend, bool) {
	kind, ok := s.Release.Storage.Backend(family + "_" + store.Type)
	if !ok {
		var types []string
		for _, b := range backendsOf(s.Draft, family) {
			types = append(types, strings.TrimPrefix(b.Type, family+"_"))
		}
		s.Failf(store.Path.Child("type"), "server release %s has no %s store of type %q; known types: %s",
			s.Release.Line, family, store.Type, strings.Join(types, ", "))
	}
	return kind, ok
}

// ofFamily returns the names of the base's backends in a family. The backend with the default name comes first, because
// its SQLite file takes precedence over other files.
func (s *storageWriter) ofFamily(family string) []string {
	var found []string
	for i := 0; i+1 < len(s.backends.Content); i += 2 {
		name := s.backends.Content[i].Value
		if of, _, _ := strings.Cut(yamlnode.Text(s.backends.Content[i+1], "type"), "_"); of != family {
			continue
		}
		if name == defaultName(family) {
			found = slices.Insert(found, 0, name)
		} else {
			found = append(found, name)
		}
	}
	return found
}

func (s *storageWriter) removeBackends(gone map[string]bool) {
	all := s.backends.Content
	kept := make([]*yaml.Node, 0, len(all))
	for i := 0; i+1 < len(all); i += 2 {
		if !gone[all[i].Value] {
			kept = append(kept, all[i], all[i+1])
		}
	}
	s.backends.Content = kept
}

// repoint replaces the name in every reference {backend: <name>} that names a removed backend, in stores, providers and
// the quota. The new name is `to`.
func (s *storageWriter) repoint(node *yaml.Node, gone map[string]bool, to string, path *field.Path) {
	if node == s.backends {
		return
	}
	if node.Kind == yaml.MappingNode {
		if name := yamlnode.Text(node, "backend"); gone[name] {
			s.Write(draft.Under(node, "backend"), yamlnode.String(to), draft.Derived(path, "was "+name))
		}
	}
	for _, item := range node.Content {
		s.repoint(item, gone, to, path)
	}
}

// backend returns the user's backend. A SQLite file in the base keeps its path.
func (s *storageWriter) backend(kind release.Backend, store *intent.Store, old []string) *yaml.Node {
	if store.Type == intent.SQLite {
		for _, name := range old {
			if base := yamlnode.Get(s.backends, name); yamlnode.Text(base, "type") == kind.Type {
				return base
			}
		}
		return s.sqlite(kind, fileOf(kind.Family))
	}
	return s.served(kind, store)
}

// served returns a backend that is a separate server.
func (s *storageWriter) served(kind release.Backend, store *intent.Store) *yaml.Node {
	b := backendWriter{storageWriter: s, kind: kind, store: store, node: yamlnode.Map(), id: intent.KVID}
	if kind.Family == release.SQL {
		b.id = intent.SQLID
	}
	b.put("type", yamlnode.String(kind.TypeValue), store.Path.Child("type"))
	if store.Type == intent.Redis {
		b.redis()
	} else {
		b.postgres()
	}
	return b.node
}

// fileOf returns the name of a family's file in the server's own configurations.
func fileOf(family string) string {
	if family == release.SQL {
		return "sql_store.db"
	}
	return "kvstore.db"
}

// sqlite returns a SQLite backend whose file is in the directory for the distribution's databases.
func (s *storageWriter) sqlite(kind release.Backend, file string) *yaml.Node {
	node := yamlnode.Map()
	s.Write(draft.Under(node, "type"), yamlnode.String(kind.TypeValue), s.ReleaseDefault())
	s.Write(draft.Under(node, "db_path"), yamlnode.String(s.Directory+"/"+file), s.ReleaseDefault())
	return node
}

// complete adds each missing store that has a default in the release, and the missing default backends that stores use.
func (s *storageWriter) complete() {
	for i := range s.Release.Storage.Stores {
		store := &s.Release.Storage.Stores[i]
		if store.Default != nil && yamlnode.IsNull(yamlnode.Get(s.stores, store.Name)) {
			s.Write(draft.Under(s.stores, store.Name), provider.Node(store.Default), s.ReleaseDefault())
		}
	}
	for _, family := range []string{release.KV, release.SQL} {
		name := defaultName(family)
		kind, ok := s.Release.Storage.Backend(family + "_" + intent.SQLite)
		if ok && s.used(name) && yamlnode.IsNull(yamlnode.Get(s.backends, name)) {
			s.Write(draft.Under(s.backends, name), s.sqlite(kind, fileOf(family)), s.ReleaseDefault())
		}
	}
}

func (s *storageWriter) used(backend string) bool {
	for i := 1; i < len(s.stores.Content); i += 2 {
		if yamlnode.Text(s.stores.Content[i], "backend") == backend {
			return true
		}
	}
	return false
}
