package corpus

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// own adds cases with values that only a base can contain, because no field of the spec writes them. Each base is the
// starter with one addition: a backend, a store or a resource.
func (m *maker) own() {
	if m.rel.Storage.Inline {
		return
	}
	v := &values{}
	for i := range m.rel.Storage.Backends {
		backend := &m.rel.Storage.Backends[i]
		m.changed("own/backend-"+backend.Type, func(base fields) {
			node, _ := v.class(backend.Class, 0)
			entry := node.(fields)
			entry["type"] = backend.Type
			if _, known := entry["db_path"]; known {
				entry["db_path"] = "/.llama/" + backend.Type + ".db"
			}
			base["storage"].(fields)["backends"].(fields)["another"] = entry
		})
	}
	for i := range m.rel.Storage.Stores {
		store := &m.rel.Storage.Stores[i]
		m.changed("own/store-"+store.Name, func(base fields) {
			base["storage"].(fields)["stores"].(fields)[store.Name], _ = v.class(store.Class, 0)
		})
	}
	for _, resource := range m.rel.Resources() {
		m.changed("own/resource-"+resource.Kind, func(base fields) { m.register(base, resource) })
	}
}

// changed adds a case whose base is the starter after a change.
func (m *maker) changed(name string, change func(base fields)) {
	var base fields
	err := yaml.Unmarshal(shipped(m.rel, starter), &base)
	if err == nil {
		change(base)
		var data []byte
		if data, err = yaml.Marshal(base); err == nil {
			m.addOwn(name, string(data), fields{"networking": fields{"port": 9000}})
			return
		}
	}
	panic(fmt.Sprintf("corpus: case %q of %s: %v", name, m.rel.Line, err))
}

// register adds a resource with the keys that it needs.
func (m *maker) register(base fields, resource release.Resource) {
	entry := fields{}
	v := &values{}
	for _, name := range required(resource.Class, nil) {
		key, _ := resource.Class.Key(name)
		if value, ok := v.key(resource.Class, &key, 0); ok {
			entry[name] = value
		}
	}
	entry[resource.IDKey] = "one-of-mine"
	if _, named := entry["embedding_model"]; named {
		// The embedding model must be registered.
		entry["embedding_model"] = "openai/embed"
		registerIn(base, release.RegisteredResources, "models", fields{
			"model_id": "embed", "provider_id": "openai", "provider_model_id": "embed", "model_type": "embedding",
			"metadata": fields{"embedding_dimension": 384},
		})
	}
	if resource.API != "" {
		entry["provider_id"] = m.firstOf(resource.API)
	}
	if key, ok := resource.Class.Key("url"); ok && key.Type.Kind == schema.KindStr {
		entry["url"] = "http://mcp.example/mcp"
	}
	registerIn(base, resource.Section, resource.Kind, entry)
}

// registerIn adds an entry to a list of resources.
func registerIn(base fields, sectionName, kind string, entry fields) {
	parent := base
	if sectionName != release.TopLevel {
		section, ok := base[sectionName].(fields)
		if !ok {
			section = fields{}
			base[sectionName] = section
		}
		parent = section
	}
	list, _ := parent[kind].([]any)
	parent[kind] = append(list, entry)
}

// firstOf returns the ID of the first provider in the starter that serves the API, does not depend on a variable, and
// registers the resources in a configuration.
func (m *maker) firstOf(api string) string {
	d, _ := m.rel.Distribution(starter)
	for _, p := range providersOf(shipped(m.rel, starter)) {
		conditional := slices.ContainsFunc(d.Variables,
			func(v release.Variable) bool { return slices.Contains(v.Enables, p.id) })
		kind, known := m.rel.Provider(api, p.providerType)
		refuses := known && kind.RegistersNothing
		if p.api == api && !conditional && !refuses {
			return p.id
		}
	}
	return ""
}
