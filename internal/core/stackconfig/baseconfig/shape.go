package baseconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// shape is the structure that a section must have for the steps of package stackconfig. Null counts as absent
// everywhere. Package check compares the content with the data of the release.
type shape struct {
	kind  yaml.Kind
	keys  map[string]*shape
	every *shape
}

var (
	anyScalar  = &shape{kind: yaml.ScalarNode}
	anyMapping = &shape{kind: yaml.MappingNode}
	mappings   = &shape{kind: yaml.SequenceNode, every: anyMapping}

	configShape = &shape{kind: yaml.MappingNode, keys: map[string]*shape{
		"apis": {kind: yaml.SequenceNode, every: anyScalar},
		"providers": {kind: yaml.MappingNode, every: &shape{kind: yaml.SequenceNode, every: &shape{
			kind: yaml.MappingNode,
			keys: map[string]*shape{"provider_id": anyScalar, "provider_type": anyScalar, "config": anyMapping},
		}}},
		"storage": {kind: yaml.MappingNode, keys: map[string]*shape{
			"backends": {kind: yaml.MappingNode, every: anyMapping},
			"stores":   {kind: yaml.MappingNode, every: anyMapping},
		}},
		"registered_resources": {kind: yaml.MappingNode, every: mappings},
		"connectors":           mappings,
		"server":               anyMapping,
		"safety":               anyMapping,
		"vector_stores":        anyMapping,
	}}
)

// mismatch is a node of the wrong kind. Each level of the recursion adds its part to path, innermost first.
type mismatch struct {
	node *yaml.Node
	want yaml.Kind
	path []string
}

func checkShape(root *yaml.Node) error {
	m := configShape.check(root)
	if m == nil {
		return nil
	}
	return fmt.Errorf("line %d: %s must be %s, got %s",
		m.node.Line, m.place(), kindName(m.want), KindOf(m.node))
}

func (m *mismatch) under(step string) *mismatch {
	m.path = append(m.path, step)
	return m
}

func (m *mismatch) place() string {
	var b strings.Builder
	for _, v := range slices.Backward(m.path) {
		if b.Len() > 0 && !strings.HasPrefix(v, "[") {
			b.WriteByte('.')
		}
		b.WriteString(v)
	}
	return b.String()
}

func (s *shape) check(node *yaml.Node) *mismatch {
	switch {
	case yamlnode.IsNull(node):
		return nil
	case node.Kind != s.kind:
		return &mismatch{node: node, want: s.kind}
	case node.Kind == yaml.SequenceNode:
		return s.checkItems(node)
	case node.Kind == yaml.MappingNode:
		return s.checkKeys(node)
	}
	return nil
}

func (s *shape) checkItems(node *yaml.Node) *mismatch {
	for i, item := range node.Content {
		if m := s.every.check(item); m != nil {
			return m.under("[" + strconv.Itoa(i) + "]")
		}
	}
	return nil
}

func (s *shape) checkKeys(node *yaml.Node) *mismatch {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i].Value
		inner, known := s.keys[key]
		if !known {
			inner = s.every
		}
		if inner == nil {
			continue
		}
		if m := inner.check(node.Content[i+1]); m != nil {
			return m.under(key)
		}
	}
	return nil
}

// dropNull removes null values that are equivalent to an absent key but that the server rejects.
func dropNull(root *yaml.Node) {
	for _, key := range []string{"version", "apis", "connectors"} {
		if yamlnode.IsNull(yamlnode.Get(root, key)) {
			yamlnode.Remove(root, key)
		}
	}
	for _, key := range []string{"providers", "registered_resources"} {
		section := yamlnode.Get(root, key)
		if section == nil {
			continue
		}
		for i := len(section.Content) - 2; i >= 0; i -= 2 {
			if yamlnode.IsNull(section.Content[i+1]) {
				yamlnode.Remove(section, section.Content[i].Value)
			}
		}
	}
}
