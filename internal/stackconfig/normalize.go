package stackconfig

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// A base is small: the largest that ships has a thousand nodes, eight deep. The
// bounds keep a hostile one (aliases of aliases) from filling the memory.
const (
	maxNodes = 100_000
	maxDepth = 100
)

// The tags that the server's reader constructs values for.
var knownTags = []string{
	"", "!", "!!null", "!!bool", "!!int", "!!float", "!!str", "!!binary", "!!timestamp", "!!seq", "!!map", "!!merge",
}

// normalizer copies a parsed document into a plain tree: no aliases, merge keys,
// anchors or comments.
type normalizer struct{ nodes int }

func normalize(document *yaml.Node) (*yaml.Node, error) {
	n := &normalizer{}
	root, err := n.node(document, 0)
	if err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("must be a mapping, got %s", kindOf(root))
	}
	return root, nil
}

func (n *normalizer) node(node *yaml.Node, depth int) (*yaml.Node, error) {
	n.nodes++
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("line %d: is nested deeper than %d levels", node.Line, maxDepth)
	case n.nodes > maxNodes:
		return nil, fmt.Errorf("line %d: has more than %d values when its aliases are written out", node.Line, maxNodes)
	case node.Kind == yaml.AliasNode:
		return n.node(node.Alias, depth+1)
	case !slices.Contains(knownTags, node.ShortTag()):
		return nil, fmt.Errorf("line %d: the tag %s is none that the server reads", node.Line, node.ShortTag())
	}
	plain := &yaml.Node{
		Kind: node.Kind, Style: node.Style, Tag: node.Tag, Value: node.Value, Line: node.Line, Column: node.Column,
	}
	if node.Kind == yaml.MappingNode {
		return plain, n.mapping(plain, node, depth)
	}
	if len(node.Content) > 0 {
		plain.Content = make([]*yaml.Node, 0, len(node.Content))
	}
	for _, item := range node.Content {
		child, err := n.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		plain.Content = append(plain.Content, child)
	}
	return plain, nil
}

// mapping copies the pairs of a mapping. What a merge key brings in stands at
// its place and gives way to the mapping's own keys.
func (n *normalizer) mapping(plain, node *yaml.Node, depth int) error {
	plain.Content = make([]*yaml.Node, 0, len(node.Content))
	own, err := ownKeys(node)
	if err != nil {
		return err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if isMerge(node.Content[i]) {
			if err := n.merge(plain, node.Content[i+1], own, depth); err != nil {
				return err
			}
			continue
		}
		key, err := n.node(node.Content[i], depth+1)
		if err != nil {
			return err
		}
		value, err := n.node(node.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		plain.Content = append(plain.Content, key, value)
	}
	return nil
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" }

// ownKeys are the keys written in the mapping itself, each once. A long mapping
// is looked up in a set, a short one is searched.
func ownKeys(node *yaml.Node) (map[string]bool, error) {
	own := make(map[string]bool, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key must be a string, got %s", key.Line, kindOf(key))
		}
		if own[key.Value] {
			return nil, fmt.Errorf("line %d: the key %q is there twice", node.Content[i].Line, key.Value)
		}
		own[key.Value] = true
	}
	return own, nil
}

// merge adds the pairs of one mapping or of a list of them, the first one first.
func (n *normalizer) merge(plain, value *yaml.Node, own map[string]bool, depth int) error {
	source, err := n.node(value, depth+1)
	if err != nil {
		return err
	}
	sources := []*yaml.Node{source}
	if source.Kind == yaml.SequenceNode {
		sources = source.Content
	}
	for _, source := range sources {
		if source.Kind != yaml.MappingNode {
			return fmt.Errorf("line %d: %w", value.Line, errors.New("a merge key takes a mapping or a list of mappings"))
		}
		for i := 0; i+1 < len(source.Content); i += 2 {
			if key := source.Content[i].Value; !own[key] {
				own[key] = true
				plain.Content = append(plain.Content, source.Content[i], source.Content[i+1])
			}
		}
	}
	return nil
}

func kindOf(node *yaml.Node) string {
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return "null"
	}
	return kindName(node.Kind)
}

func kindName(kind yaml.Kind) string {
	switch kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a scalar"
	}
}
