package yamlnode

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// index returns the position of a key in the content of a mapping, or -1 when there is none.
func index(mapping *yaml.Node, key string) int {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// Get returns the value of a key. It returns nil when the key does not exist, or when the parameter `mapping` is not a
// mapping.
func Get(mapping *yaml.Node, key string) *yaml.Node {
	i := index(mapping, key)
	if i < 0 {
		return nil
	}
	return mapping.Content[i+1]
}

// Keys returns the keys of a mapping in order, or nil when the node is not a mapping.
func Keys(node *yaml.Node) []string {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	keys := make([]string, 0, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		keys = append(keys, node.Content[i].Value)
	}
	return keys
}

// At follows keys through nested mappings. It returns nil when a key is missing.
func At(node *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		node = Get(node, key)
	}
	return node
}

// Text returns the text of a scalar under a key. It returns an empty string when the value is null or is not a scalar.
func Text(mapping *yaml.Node, key string) string {
	node := Get(mapping, key)
	if IsNull(node) || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}

// Set replaces the value of a key in place, or appends the key.
func Set(mapping *yaml.Node, key string, value *yaml.Node) {
	if i := index(mapping, key); i >= 0 {
		mapping.Content[i+1] = value
		return
	}
	mapping.Content = append(mapping.Content, String(key), value)
}

// Remove removes a key if it exists.
func Remove(mapping *yaml.Node, key string) {
	if i := index(mapping, key); i >= 0 {
		mapping.Content = slices.Delete(mapping.Content, i, i+2)
	}
}

// Items returns the items of a sequence, or nil when the node is not a sequence.
func Items(node *yaml.Node) []*yaml.Node {
	if node == nil || node.Kind != yaml.SequenceNode {
		return nil
	}
	return node.Content
}

// IsNull reports whether a node is missing or null.
func IsNull(node *yaml.Node) bool {
	return node == nil || (node.Kind == yaml.ScalarNode && node.ShortTag() == nullTag)
}

// Len returns the number of keys in a mapping or items in a sequence.
func Len(node *yaml.Node) int {
	switch {
	case node == nil:
		return 0
	case node.Kind == yaml.MappingNode:
		return len(node.Content) / 2
	default:
		return len(node.Content)
	}
}

// Equal reports whether two trees have the same values, with the same types, in the same order. It ignores comments and
// the YAML style of the trees.
func Equal(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if IsNull(a) && IsNull(b) {
		return true
	}
	if a.Kind != b.Kind || a.Value != b.Value || a.ShortTag() != b.ShortTag() || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !Equal(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
