package baseconfig

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// A base is small: the largest shipped one has a thousand nodes, eight levels deep, in 20 kB. The limits prevent a
// hostile document, for example one with aliases of aliases, from exhausting the memory. They apply to the expanded
// document, and reading stops as soon as one limit is exceeded.
const (
	maxNodes = 100_000
	maxDepth = 100
	// maxWritten limits the number of bytes of text and indentation. A ConfigMap can hold half as many bytes.
	maxWritten = 2 << 20
)

// useLess is the remedy for a document that exceeds maxNodes or maxWritten.
const useLess = "use fewer aliases, or remove unused sections"

// knownTags lists the tags for which the server's YAML reader constructs values.
var knownTags = []string{
	"", "!", "!!null", "!!bool", "!!int", "!!float", "!!str", "!!binary", "!!timestamp", "!!seq", "!!map", "!!merge",
}

// normalizer removes aliases and merge keys from a parsed document, in place. It replaces an alias with the node to
// which the alias refers, so the same node can occur in several places. Package draft works on a copy, in which each
// place has its own mapping or sequence.
type normalizer struct{ nodes, written int }

func normalize(document *yaml.Node) (*yaml.Node, error) {
	n := &normalizer{}
	root, err := n.node(document, 0)
	if err != nil {
		return nil, err
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("must be a mapping, got %s", KindOf(root))
	}
	return root, nil
}

// node visits a node once for each occurrence. The limits count each visit.
func (n *normalizer) node(node *yaml.Node, depth int) (*yaml.Node, error) {
	if err := n.visit(node, depth); err != nil {
		return nil, err
	}
	if node.Kind == yaml.AliasNode {
		return n.node(node.Alias, depth+1)
	}
	if node.Kind == yaml.MappingNode {
		if err := checkKeys(node); err != nil {
			return nil, err
		}
		if err := n.mergeAll(node, depth); err != nil {
			return nil, err
		}
	}
	for i, item := range node.Content {
		plain, err := n.node(item, depth+1)
		if err != nil {
			return nil, err
		}
		node.Content[i] = plain
	}
	return node, nil
}

// visit counts a visit to a node. It returns an error if the node exceeds a limit or has an unsupported tag.
func (n *normalizer) visit(node *yaml.Node, depth int) error {
	n.nodes++
	n.written += len(node.Value) + 2*depth
	switch {
	case depth > maxDepth:
		return fmt.Errorf("line %d: the document is nested more than %d levels deep; reduce the nesting", node.Line, maxDepth)
	case n.nodes > maxNodes:
		return fmt.Errorf("line %d: the document has more than %d values after its aliases are expanded; %s",
			node.Line, maxNodes, useLess)
	case n.written > maxWritten:
		return fmt.Errorf("line %d: the document has more than %d bytes after its aliases are expanded; %s",
			node.Line, maxWritten, useLess)
	case node.Kind != yaml.AliasNode && !slices.Contains(knownTags, node.ShortTag()):
		return fmt.Errorf("line %d: the server does not support the tag %s; remove the tag", node.Line, node.ShortTag())
	default:
		return nil
	}
}

// mergeAll expands merge keys in place. The mapping's own keys take precedence.
func (n *normalizer) mergeAll(node *yaml.Node, depth int) error {
	if !slices.ContainsFunc(node.Content, isMerge) {
		return nil
	}
	merged := make([]*yaml.Node, 0, 2*len(node.Content))
	for i := 0; i+1 < len(node.Content); i += 2 {
		if !isMerge(node.Content[i]) {
			merged = append(merged, node.Content[i], node.Content[i+1])
			continue
		}
		pairs, err := n.merge(node, node.Content[i+1], depth)
		if err != nil {
			return err
		}
		merged = append(merged, pairs...)
	}
	node.Content = merged
	return nil
}

func isMerge(key *yaml.Node) bool { return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge" }

// checkKeys returns an error unless each key of a mapping is a scalar and occurs once. It does not check the keys that
// merge keys add.
func checkKeys(node *yaml.Node) error {
	seen := newKeySet(len(node.Content) / 2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := deref(node.Content[i])
		if key.Kind != yaml.ScalarNode {
			return fmt.Errorf("line %d: a key must be a string, got %s", key.Line, KindOf(key))
		}
		if !seen.add(key.Value) {
			return fmt.Errorf("line %d: duplicate key %q", node.Content[i].Line, key.Value)
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

// keySet is a set of keys: a list while it is small, otherwise a map.
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

// add adds a key and reports whether it is new.
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

// merge returns the pairs that the value of a merge key adds to the mapping node, in order of precedence. It omits the
// keys that the mapping already has.
func (n *normalizer) merge(node, value *yaml.Node, depth int) ([]*yaml.Node, error) {
	source, err := n.node(value, depth+1)
	if err != nil {
		return nil, err
	}
	sources := []*yaml.Node{source}
	if source.Kind == yaml.SequenceNode {
		sources = source.Content
	}
	taken := keySet{many: make(map[string]bool)}
	for i := 0; i+1 < len(node.Content); i += 2 {
		taken.add(deref(node.Content[i]).Value)
	}
	var pairs []*yaml.Node
	for _, source := range sources {
		if source.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("line %d: the value of a merge key must be a mapping or a list of mappings", value.Line)
		}
		for i := 0; i+1 < len(source.Content); i += 2 {
			if taken.add(source.Content[i].Value) {
				pairs = append(pairs, source.Content[i], source.Content[i+1])
			}
		}
	}
	return pairs, nil
}

// KindOf returns the name of a node's kind for messages.
func KindOf(node *yaml.Node) string {
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
