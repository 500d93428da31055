package schema

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Stores calls a function for a mapping that has this class, and for each mapping inside it, if its class refers to a
// storage backend. It omits mappings whose class is unknown.
func (c *Class) Stores(node *yaml.Node, visit func(path string, class *Class, node *yaml.Node)) {
	c.stores(nil, node, visit)
}

func (c *Class) stores(
	path *yamlnode.Path, node *yaml.Node, visit func(path string, class *Class, node *yaml.Node),
) {
	if c == nil || node == nil || node.Kind != yaml.MappingNode {
		return
	}
	if c.BackendFamily != "" {
		visit(path.String(), c, node)
	}
	at := path.Below()
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key, ok := c.Key(node.Content[i].Value); ok && len(node.Content[i+1].Content) > 0 {
			key.Type.stores(at.Key(node.Content[i].Value), node.Content[i+1], visit)
		}
	}
}

func (e *Expr) stores(
	path *yamlnode.Path, node *yaml.Node, visit func(path string, class *Class, node *yaml.Node),
) {
	at := path.Below()
	switch {
	case e.Kind == KindClass:
		e.Class.stores(path, node, visit)
	case e.Kind == KindUnion:
		if member := e.memberOf(node); member != nil {
			member.stores(path, node, visit)
		}
	case e.Kind == KindList && node.Kind == yaml.SequenceNode && len(e.Args) > 0:
		for i, item := range node.Content {
			e.Args[min(i, len(e.Args)-1)].stores(at.Item(i), item, visit)
		}
	case e.Kind == KindDict && node.Kind == yaml.MappingNode && len(e.Args) > 1:
		for i := 0; i+1 < len(node.Content); i += 2 {
			e.Args[1].stores(at.Key(node.Content[i].Value), node.Content[i+1], visit)
		}
	}
}

// memberOf returns the member of a union for a list or a mapping: the member that the tag selects or, without a tag,
// the first member that takes the value's kind. It returns nil if there is no such member.
func (e *Expr) memberOf(node *yaml.Node) *Expr {
	name, _ := e.tag()
	i := slices.IndexFunc(e.Args, func(member *Expr) bool {
		if name == "" || node.Kind != yaml.MappingNode {
			return member.takes(kindOf(node))
		}
		tag := valueAt(node, name)
		if tag == nil || member.Class == nil {
			return false
		}
		key, _ := member.Class.Key(name)
		return slices.Contains(key.Type.Values, tag.Value)
	})
	if i < 0 {
		return nil
	}
	return e.Args[i]
}

// HasKey reports whether the class has a key at a path of keys below a mapping. The mapping selects the members of
// unions, as in Visit.
func (c *Class) HasKey(node *yaml.Node, keys ...string) bool {
	key, ok := c.Key(keys[0])
	if !ok || len(keys) == 1 {
		return ok
	}
	inner := valueAt(node, keys[0])
	for e := key.Type; e != nil && inner != nil; e = e.memberOf(inner) {
		if e.Kind == KindClass {
			return e.Class.HasKey(inner, keys[1:]...)
		}
		if e.Kind != KindUnion {
			return false
		}
	}
	return false
}
