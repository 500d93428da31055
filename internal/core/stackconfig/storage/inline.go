package storage

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// InlineStore is a store in a release in which each store is a whole backend. The store is a top-level key or a key in
// a provider's config.
type InlineStore struct {
	// In is the mapping that contains the store under Key.
	In  *yaml.Node
	Key string
	// name distinguishes the store from other stores on the same server, for example
	// `agents_meta-reference_persistence_store`.
	name string
	// Provider is the provider that uses the store. Nil means that the server itself uses the store.
	Provider *draft.Provider
}

// inlineStorage writes the user's backend of a family to every store of the family. It is for releases in which each
// store is a whole backend. These releases have no backends section to which stores could refer (FR-053). A store that
// the user set in the settings of a provider is unchanged. The registry needs no changes, because these releases
// replace a model with its changed version (server fact 21, server fact 50).
func inlineStorage(d *draft.Draft) []secretvalue.Derived {
	s := storageWriter{Draft: d}
	for _, store := range []*intent.Store{d.Intent.Storage.KV, d.Intent.Storage.SQL} {
		if store == nil {
			continue
		}
		family := release.KV
		if store == d.Intent.Storage.SQL {
			family = release.SQL
		}
		kind, ok := s.kind(family, store)
		if !ok {
			continue
		}
		for _, place := range InlineStores(d, family) {
			s.replaceInline(&place, kind, store)
		}
	}
	return s.derived
}

func (s *storageWriter) replaceInline(at *InlineStore, kind release.Backend, store *intent.Store) {
	base := yamlnode.Get(at.In, at.Key)
	if s.OriginOf(base).Path != nil {
		return // the user set this store in the settings of a provider
	}
	if store.Type == intent.SQLite {
		if yamlnode.Text(base, "type") != kind.TypeValue {
			s.Write(draft.Under(at.In, at.Key), s.sqlite(kind, at.name+".db"), draft.From(store.Path))
		}
		return
	}
	node := s.served(kind, store)
	if _, apart := kind.Class.Key("namespace"); apart {
		s.Write(draft.Under(node, "namespace"), yamlnode.String(at.name), draft.Derived(store.Path, "separates stores that share a server"))
	}
	s.Write(draft.Under(at.In, at.Key), node, draft.From(store.Path))
}

// InlineStores returns the stores of a family: the server's own stores and those of its providers, including providers
// that only a variable enables.
func InlineStores(d *draft.Draft, family string) []InlineStore {
	var found []InlineStore
	for i := range d.Release.Storage.Stores {
		if store := &d.Release.Storage.Stores[i]; store.Family == family {
			found = append(found, InlineStore{In: d.Root, Key: store.Path, name: store.Path})
		}
	}
	for _, e := range d.Index.Providers {
		if e.Kind == nil {
			continue
		}
		config := yamlnode.Get(e.Node, "config")
		for i := range e.Kind.Config.Keys {
			key := &e.Kind.Config.Keys[i]
			if config != nil && takesFamily(d, key.Type, family) {
				found = append(found, InlineStore{
					In: config, Key: key.Name, name: e.API + "_" + e.ID + "_" + key.Name,
					Provider: e,
				})
			}
		}
	}
	return found
}

func backendsOf(d *draft.Draft, family string) []release.Backend {
	var found []release.Backend
	for i := range d.Release.Storage.Backends {
		if b := &d.Release.Storage.Backends[i]; b.Family == family {
			found = append(found, *b)
		}
	}
	return found
}

// takesFamily reports whether a type accepts at least one kind of backend in a family.
func takesFamily(d *draft.Draft, expr *schema.Expr, family string) bool {
	switch {
	case expr == nil:
		return false
	case expr.Kind == schema.KindClass:
		return slices.ContainsFunc(backendsOf(d, family), func(b release.Backend) bool { return b.Class == expr.Class })
	default:
		return expr.Kind == schema.KindUnion && slices.ContainsFunc(expr.Args,
			func(arg *schema.Expr) bool { return takesFamily(d, arg, family) })
	}
}
