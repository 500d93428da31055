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
type normalizer struct {
	nodes int
	// block is what is left of a block of nodes: they are made by the hundred.
	block []yaml.Node
}

const blockSize = 128

func (n *normalizer) newNode(node *yaml.Node) *yaml.Node {
	if len(n.block) == 0 {
		n.block = make([]yaml.Node, blockSize)
	}
	made := &n.block[0]
	n.block = n.block[1:]
	made.Kind, made.Style, made.Tag, made.Value = node.Kind, node.Style, node.Tag, node.Value
	made.Line, made.Column = node.Line, node.Column
	return made
}

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
	plain := n.newNode(node)
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
	if err := checkKeys(node); err != nil {
		return err
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if isMerge(node.Content[i]) {
			if err := n.merge(plain, node, node.Content[i+1], depth); err != nil {
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

// checkKeys says what is wrong with the keys written in a mapping itself: each
// is a scalar, and there once.
func checkKeys(node *yaml.Node) error {
	seen := newKeySet(len(node.Content) / 2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := deref(node.Content[i])
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a key must be a string, got %s", key.Line, kindOf(key))
		}
		if !seen.add(key.Value) {
			return fmt.Errorf("line %d: the key %q is there twice", node.Content[i].Line, key.Value)
		}
	}
	return nil
}

func deref(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// keySet remembers keys: a few in a list, many in a map.
type keySet struct {
	few  []string
	many map[string]bool
}

const fewKeys = 16

func newKeySet(size int) keySet {
	if size > fewKeys {
		return keySet{many: make(map[string]bool, size)}
	}
	return keySet{few: make([]string, 0, size)}
}

// add says whether the key is new.
func (s *keySet) add(key string) bool {
	if s.many != nil {
		if s.many[key] {
			return false
		}
		s.many[key] = true
		return true
	}
	if slices.Contains(s.few, key) {
		return false
	}
	s.few = append(s.few, key)
	return true
}

// merge adds the pairs of one mapping or of a list of them, the first one first.
func (n *normalizer) merge(plain, node, value *yaml.Node, depth int) error {
	source, err := n.node(value, depth+1)
	if err != nil {
		return err
	}
	sources := []*yaml.Node{source}
	if source.Kind == yaml.SequenceNode {
		sources = source.Content
	}
	taken := keySet{many: make(map[string]bool)}
	for i := 0; i+1 < len(node.Content); i += 2 {
		taken.add(deref(node.Content[i]).Value)
	}
	for _, source := range sources {
		if source.Kind != yaml.MappingNode {
			return fmt.Errorf("line %d: %w", value.Line, errors.New("a merge key takes a mapping or a list of mappings"))
		}
		for i := 0; i+1 < len(source.Content); i += 2 {
			if taken.add(source.Content[i].Value) {
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
