package schema

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// checkTagged checks a mapping against one class of a union. The tag of the mapping determines the class. The tag is a
// key, usually `type`, that is a literal in every class of the union. The result ok is false when the node is not a
// mapping, when the union has no tag, or when the value of the tag is not a fixed string.
func (e *Expr) checkTagged(path *yamlnode.Path, node *yaml.Node) (problems []Problem, ok bool) {
	name, classes := e.tag()
	if name == "" || node.Kind != yaml.MappingNode {
		return nil, false
	}
	tag := valueAt(node, name)
	var known []string
	for _, class := range classes {
		key, _ := class.Key(name)
		known = append(known, key.Type.Values...)
		if tag != nil && kindOf(tag) == valueString && slices.Contains(key.Type.Values, tag.Value) {
			return class.check(path, node), true
		}
	}
	at := path.Below()
	at.Key(name)
	switch {
	case tag == nil: // the parser requires the tag although each class has a default for it
		want := oneOf(known)
		return []Problem{{Kind: MissingKey, Path: at.String(), Want: want, Fatal: true}}, true
	case kindOf(tag) != valueString:
		return nil, false
	}
	return wrongType(&at, oneOf(known), kindOf(tag)), true
}

// valueAt returns the value of a key in a mapping, or nil when there is none.
func valueAt(node *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

// tag returns the name of the key that distinguishes the classes of a union, and the classes. The name is empty when
// another member also accepts mappings, when there is only one class, or when no key is a literal in every class.
func (e *Expr) tag() (name string, classes []*Class) {
	for _, member := range e.Args {
		switch {
		case member.Kind == KindClass && member.Class != nil:
			classes = append(classes, member.Class)
		case member.takes(valueMapping):
			return "", nil
		}
	}
	if len(classes) < 2 {
		return "", nil
	}
	for _, key := range classes[0].Keys {
		if isTag(key.Name, classes) {
			return key.Name, classes
		}
	}
	return "", nil
}

func isTag(name string, classes []*Class) bool {
	return !slices.ContainsFunc(classes, func(class *Class) bool {
		key, ok := class.Key(name)
		return !ok || key.Type.Kind != KindLiteral
	})
}
