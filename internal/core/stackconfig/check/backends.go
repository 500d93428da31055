package check

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// backends checks each backend against its type, and checks that required stores exist. It also checks that every
// reference names a backend of the family that the reference needs.
func (c *checker) backends() {
	storage := yamlnode.Get(c.Root, "storage")
	backends := yamlnode.Get(storage, "backends")
	if yamlnode.IsNull(storage) {
		return
	}
	c.backendTypes(backends)
	c.stores()
	named := yamlnode.FieldsOf(backends)
	c.families(c.Release.TopLevel, c.Root, "", named)
	for path, e := range c.Index.All {
		if e.Kind != nil {
			c.families(e.Kind.Config, yamlnode.Get(e.Node, "config"), path+".config", named)
		}
	}
	c.backendsIn(c.Root, nil, named)
}

// families reports references to a backend of the wrong family in a mapping of the given class.
func (c *checker) families(class *schema.Class, node *yaml.Node, at string, backends *yamlnode.Fields) {
	class.Stores(node, func(path string, class *schema.Class, reference *yaml.Node) {
		name := yamlnode.Text(reference, "backend")
		kind := yamlnode.Text(backends.Get(name), "type")
		family, _, _ := strings.Cut(kind, "_")
		if family != "" && !envref.In(kind) && family != class.BackendFamily {
			c.failAt(draft.JoinPath(draft.JoinPath(at, path), "backend"), func() string {
				return fmt.Sprintf("requires a backend of type %s_*, but %q has a different type; name a different backend", class.BackendFamily, name)
			})
		}
	})
}

// stores checks the stores that some releases require to start.
func (c *checker) stores() {
	for i := range c.Release.Storage.Stores {
		store := &c.Release.Storage.Stores[i]
		if storage.Required(c.Draft, store) && storage.Lacks(c.Draft, store) {
			c.problem(&schema.Problem{Kind: schema.MissingKey, Want: "a mapping", Fatal: true}, store.Path)
		} else if setting := storage.LackedWith(c.Draft, store); setting != "" {
			c.failAt(store.Path, func() string {
				return fmt.Sprintf("with %s and a provider of the API %s, the server does not start without this store; add the store",
					setting, draft.APIField(store.RequiredBy))
			})
		}
	}
}

// backendTypes checks each backend against its type.
func (c *checker) backendTypes(backends *yaml.Node) {
	for i := 0; backends != nil && i+1 < len(backends.Content); i += 2 {
		path, backend := backendsPath+backends.Content[i].Value, backends.Content[i+1]
		text := yamlnode.Text(backend, "type")
		kind, known := c.Release.Storage.Backend(text)
		if !known && envref.In(text) {
			continue // the type is known only in the pod
		}
		if !known {
			c.failAt(path, func() string {
				return fmt.Sprintf("%q is not a backend type in release %s; known types: %s",
					text, c.Release.Line, strings.Join(c.backendNames(), ", "))
			})
			continue
		}
		problems := kind.Class.Check(c.withVariables(backend))
		for i := range problems {
			c.problem(&problems[i], draft.JoinPath(path, problems[i].Path))
		}
	}
}

func (c *checker) backendNames() []string {
	names := make([]string, 0, len(c.Release.Storage.Backends))
	for i := range c.Release.Storage.Backends {
		names = append(names, c.Release.Storage.Backends[i].Type)
	}
	return names
}

func (c *checker) backendsIn(node *yaml.Node, path *yamlnode.Path, backends *yamlnode.Fields) {
	if node == backends.Mapping() {
		return
	}
	at := path.Below()
	if node.Kind == yaml.MappingNode {
		if name := yamlnode.Text(node, "backend"); name != "" && !envref.In(name) && backends.Get(name) == nil {
			c.failAt(at.Key("backend").String(), func() string {
				return fmt.Sprintf("%q is not a backend in storage.backends; available: %s", name, intent.Listed(yamlnode.Keys(backends.Mapping())))
			})
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if len(node.Content[i+1].Content) > 0 {
				c.backendsIn(node.Content[i+1], at.Key(node.Content[i].Value), backends)
			}
		}
		return
	}
	for i, item := range node.Content {
		if len(item.Content) > 0 {
			c.backendsIn(item, at.Item(i), backends)
		}
	}
}
