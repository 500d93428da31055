package retention

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Input contains the facts that determine where a stack's data is stored.
type Input struct {
	// Config is the root of the configuration that the server reads. Nil means that it is unknown.
	Config *yaml.Node
	// Override reports whether the configuration is the user's own file.
	Override bool
	// Release is the release of the server. If ReleaseUnknown is true, Release is a guess.
	Release        *release.Release
	ReleaseUnknown bool
	// Adopts reports whether the pod runs the program that updates the registry. It adds the namespace to the keys that an
	// earlier release wrote without it.
	Adopts bool
	// Pod is the pod that the server runs in.
	Pod Pod
}

// Of returns the places where a stack's data is stored. It never fails, and leaves out parts that it cannot read.
func Of(in Input) *Places {
	r := reader{Input: in, places: &Places{
		Version: version, Override: in.Override, Adopts: in.Adopts, Volumes: in.Pod.Volumes,
		Stores: map[string]Store{}, Data: map[string]Data{},
	}}
	if !in.ReleaseUnknown {
		r.places.Release = in.Release.Line
	}
	if in.Config == nil || in.Config.Kind != yaml.MappingNode {
		r.places.Unread = true
		return r.places
	}
	r.stores()
	r.providers()
	r.models()
	r.places.bound()
	return r.places
}

// bound limits the size of Places. Data and models that it leaves out never count as lost.
func (p *Places) bound() {
	if len(p.Models) > maxData {
		for _, id := range slices.Sorted(maps.Keys(p.Models))[maxData:] {
			delete(p.Models, id)
		}
	}
	names := slices.Sorted(maps.Keys(p.Data))
	if len(names) > maxData {
		p.More = len(names) - maxData
		for _, name := range names[maxData:] {
			delete(p.Data, name)
		}
	}
	used := map[string]bool{}
	for _, data := range p.Data {
		for _, place := range data.In {
			used[place.Store] = true
		}
	}
	maps.DeleteFunc(p.Stores, func(name string, _ Store) bool { return !used[name] })
	if len(p.Stores) == 0 {
		p.Stores = nil
	}
	if len(p.Data) == 0 {
		p.Data = nil
	}
}

type reader struct {
	Input
	places *Places
}

// notData lists the stores that hold no client data.
var notData = map[string]bool{"connectors": true}

// stores reads the server's own stores. A store refers to a backend or, in releases up to 0.2, is itself a backend.
func (r *reader) stores() {
	for i := range r.Release.Storage.Stores {
		store := &r.Release.Storage.Stores[i]
		if notData[store.Name] {
			continue
		}
		node := yamlnode.At(r.Config, strings.Split(store.Path, ".")...)
		if yamlnode.IsNull(node) && store.Default != nil {
			node = provider.Node(store.For(""))
		}
		what := store.Name
		if strings.HasPrefix(what, "metadata") {
			what = Registry
		}
		if place, ok := r.place(node, store.Path); ok {
			r.places.Data[what] = Data{In: []Place{place}}
		}
	}
}

// place returns the place that a node describes: a part of a backend, or a separate backend, whose name is then the
// path.
func (r *reader) place(node *yaml.Node, path string) (Place, bool) {
	if name := text(node, "backend"); name != "" {
		backend := r.backendNode(name)
		if backend == nil || !r.backend(name, text(backend, "type"), backend) {
			return Place{}, false
		}
		return Place{Store: name, Space: r.space(node)}, true
	}
	if r.Release.Storage.Inline && text(node, "type") != "" && r.backend(path, r.inlineType(node), node) {
		return Place{Store: path, Space: r.space(node)}, true
	}
	return Place{}, false
}

// backendNode returns the node of a backend. Without a storage section, the server has default backends.
func (r *reader) backendNode(name string) *yaml.Node {
	if !yamlnode.IsNull(yamlnode.At(r.Config, "storage")) {
		return yamlnode.At(r.Config, "storage", "backends", name)
	}
	file := map[string]string{release.KVDefault: "kvstore.db", release.SQLDefault: "sql_store.db"}[name]
	if file == "" {
		return nil
	}
	family, _, _ := strings.Cut(name, "_")
	node := yamlnode.Map()
	yamlnode.Set(node, "type", yamlnode.String(family+"_sqlite"))
	directory := cmp.Or(r.Pod.Env[r.Release.Runtime.DataDirVariable], r.Release.Runtime.DataDir) + "/distributions"
	yamlnode.Set(node, "db_path", yamlnode.String(envref.WithDefault("SQLITE_STORE_DIR", directory)+"/"+file))
	return node
}

// space returns the namespace or table in a backend.
func (r *reader) space(node *yaml.Node) string {
	for _, key := range []string{"namespace", "table_name"} {
		if value := text(node, key); value != "" {
			return short(r.Pod.resolve(value))
		}
	}
	return ""
}

// inlineType returns the full type of a backend whose type in the configuration does not contain its family.
func (r *reader) inlineType(node *yaml.Node) string {
	for _, kind := range r.Release.Storage.Backends {
		_, keyed := kind.Class.Key("namespace")
		if kind.TypeValue == text(node, "type") && (keyed || text(node, "namespace") == "") {
			return kind.Type
		}
	}
	return ""
}

// backend records a backend. It returns false if the release does not have this type of backend.
func (r *reader) backend(name, backendType string, node *yaml.Node) bool {
	if _, noted := r.places.Stores[name]; noted {
		return true
	}
	kind, known := r.Release.Storage.Backend(backendType)
	if !known {
		return false
	}
	store := Store{Type: kind.Type, Apart: kind.Family == release.KV}
	if _, isFile := kind.Class.Key("db_path"); isFile {
		file := text(node, "db_path")
		store.At = r.Pod.file(file, kind.Family == release.SQL)
		store.Text = written(file, store.At)
		store.Apart = store.Apart && r.Release.Runtime.RegistryKeepsNamespace
	} else {
		r.served(&store, kind, node)
	}
	r.places.Stores[name] = store
	return true
}

// served records the address of a backend that is a server and, for a key-value backend, its table or collection. The
// release's defaults replace missing parts.
func (r *reader) served(store *Store, kind release.Backend, node *yaml.Node) {
	if whole := text(node, "connection_string"); whole != "" {
		store.At = r.Pod.connection(whole)
	} else {
		store.At = joined(r.Pod.host(valueOr(node, kind, "host")), r.Pod.host(valueOr(node, kind, "port")),
			r.Pod.host(valueOr(node, kind, "db")))
	}
	for _, key := range []string{"table_name", "collection_name"} {
		if _, has := kind.Class.Key(key); has && kind.Family == release.KV {
			named := valueOr(node, kind, key)
			store.Table = short(r.Pod.resolve(named))
			store.Text = written(named, store.Table)
		}
	}
}

// joined returns the address of a database. If host, port and db are the same reference to a Secret, it returns this
// reference.
func joined(host, port, db string) string {
	if strings.HasPrefix(host, "{") && host == port && (db == "" || db == host) {
		return host
	}
	address := host + ":" + port
	if db != "" {
		address += "/" + db
	}
	return address
}

// valueOr returns the value of a key as text, or the release's default if the key is missing.
func valueOr(node *yaml.Node, kind release.Backend, key string) string {
	if value := text(node, key); value != "" {
		return value
	}
	known, ok := kind.Class.Key(key)
	if !ok {
		return ""
	}
	switch value := known.Default.(type) {
	case nil, []any, map[string]any:
		return ""
	default:
		return fmt.Sprint(value)
	}
}
