package stackconfig

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// inlineStore is a place for a store in a release where each store is a whole
// backend of its own: a key of the top level, or of a provider's config.
type inlineStore struct {
	// in is the mapping that has it under key.
	in  *yaml.Node
	key string
	// name tells it from others that share a server: `agents_meta-reference_persistence_store`.
	name string
	// provider has it; nil when it is the server's own.
	provider *entry
}

// inlineStorage writes the user's backend of a family into every store of the
// family, because no section names backends to point at (FR-053, SERVER.md 1.2);
// what the settings of a provider say of its own store stays.
// The registry needs no place that depends on its content: these releases take a
// changed model for the newer one.
func inlineStorage(d *draft) []secretvalue.Derived {
	s := storageWriter{draft: d}
	for _, store := range []*intent.Store{d.in.Storage.KV, d.in.Storage.SQL} {
		if store == nil {
			continue
		}
		family := release.KV
		if store == d.in.Storage.SQL {
			family = release.SQL
		}
		kind, ok := s.kind(family, store)
		if !ok {
			continue
		}
		for _, place := range d.inlineStores(family) {
			s.replaceInline(&place, kind, store)
		}
	}
	return s.derived
}

func (s *storageWriter) replaceInline(at *inlineStore, kind release.Backend, store *intent.Store) {
	base := yamlnode.Get(at.in, at.key)
	if s.originOf(base).Path != nil {
		return // the user's own, in the settings of a provider
	}
	if store.Type == intent.SQLite {
		if yamlnode.Text(base, "type") != kind.TypeValue {
			s.write(under(at.in, at.key), s.sqlite(kind, at.name+".db"), from(store.Path))
		}
		return
	}
	node := s.served(kind, store)
	if _, apart := kind.Class.Key("namespace"); apart {
		s.write(under(node, "namespace"), yamlnode.String(at.name), derived(store.Path, "keeps apart what shares a server"))
	}
	s.write(under(at.in, at.key), node, from(store.Path))
}

// inlineStores are the stores of a family: the server's, and those of the
// providers, also of one that only a variable enables.
func (d *draft) inlineStores(family string) []inlineStore {
	var found []inlineStore
	for i := range d.rel.Storage.Stores {
		if store := &d.rel.Storage.Stores[i]; store.Family == family {
			found = append(found, inlineStore{in: d.root, key: store.Path, name: store.Path})
		}
	}
	for _, e := range d.index.entries {
		if e.kind == nil {
			continue
		}
		config := yamlnode.Get(e.node, "config")
		for i := range e.kind.Config.Keys {
			key := &e.kind.Config.Keys[i]
			if config != nil && d.holds(key.Type, family) {
				found = append(found, inlineStore{in: config, key: key.Name, name: e.api + "_" + e.id + "_" + key.Name, provider: e})
			}
		}
	}
	return found
}

func (d *draft) backendsOf(family string) []release.Backend {
	var found []release.Backend
	for i := range d.rel.Storage.Backends {
		if b := &d.rel.Storage.Backends[i]; b.Family == family {
			found = append(found, *b)
		}
	}
	return found
}

// holds says whether a value is a backend of a family: every kind of the family may
// stand there.
func (d *draft) holds(expr *schema.Expr, family string) bool {
	switch {
	case expr == nil:
		return false
	case expr.Kind == schema.KindClass:
		return slices.ContainsFunc(d.backendsOf(family), func(b release.Backend) bool { return b.Class == expr.Class })
	default:
		return expr.Kind == schema.KindUnion && slices.ContainsFunc(expr.Args, func(arg *schema.Expr) bool { return d.holds(arg, family) })
	}
}
