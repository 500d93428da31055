package document

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// Position is a position in a file. The first line and the first column are 1. The zero value means that the position
// is not known.
type Position struct{ Line, Column int }

// Position returns the position of a field path such as spec.providers.inference[0].endpoint. If the field does not
// exist, Position returns the position of the nearest parent. For a field below an alias, it returns the position of
// the field in the anchor.
//
// For standard input, the position is in the text that was read.
func (d *Document) Position(path string) Position { return d.position(d.root(), path) }

// Positions returns the positions of several field paths. It parses the text only once.
func (d *Document) Positions(paths []string) []Position {
	root := d.root()
	positions := make([]Position, 0, len(paths))
	for _, path := range paths {
		positions = append(positions, d.position(root, path))
	}
	return positions
}

func (d *Document) position(root *yaml.Node, path string) Position {
	if root == nil {
		return Position{Line: d.Line, Column: 1}
	}
	key, found := root, root
	if path != "" {
		key, found = find(root, path)
	}
	if key == nil {
		key = found
	}
	return Position{Line: d.Line + key.Line - 1, Column: key.Column}
}

// ProblemPosition returns the position of the document's problem: the line in the message, or the beginning of the
// document.
func (d *Document) ProblemPosition() Position {
	if match := lineNumber.FindStringSubmatch(d.Problem); match != nil {
		if line, err := strconv.Atoi(match[1]); err == nil {
			return Position{Line: line, Column: 1}
		}
	}
	return d.Position("")
}

// text contains the text of one or more documents in a list, whose nodes are parsed only once.
type text struct {
	data []byte
	// line is the line in the file on which the text begins.
	line int
	// problem is the reason why the text is not a document.
	problem string
	// parsed returns the node of the text, or nil for invalid text.
	parsed func() *yaml.Node
}

// maxPositions is the maximum size in bytes of a text in which fields have positions. In a larger text, the position of
// every field is the beginning of the text.
const maxPositions = 2 << 20

func newText(data []byte, line int) *text {
	return &text{data: data, line: line, parsed: sync.OnceValue(func() *yaml.Node {
		var parsed yaml.Node
		if len(data) > maxPositions || yaml.NewDecoder(bytes.NewReader(data)).Decode(&parsed) != nil ||
			len(parsed.Content) == 0 {
			return nil
		}
		return parsed.Content[0]
	})}
}

// root returns the node of the object, or nil for invalid text.
func (d *Document) root() *yaml.Node {
	if d.whole == nil || d.whole.problem != "" {
		return nil
	}
	node := d.whole.parsed()
	if node == nil {
		return nil
	}
	for _, index := range d.within {
		_, items := entry(node, "items", nil)
		if items = target(items); items == nil || index >= len(items.Content) {
			return node
		}
		node = items.Content[index]
	}
	return node
}

// find returns the node at a path, and the node of its key. A list item has no key.
func find(node *yaml.Node, path string) (key, value *yaml.Node) {
	value = node
	for rest := path; rest != ""; {
		nextKey, next, after := step(target(value), rest)
		if next == nil {
			return key, value
		}
		key, value, rest = nextKey, next, after
	}
	return key, value
}

// step follows the first part of a path, and returns the rest of the path. The value is nil if the node does not
// contain that part.
func step(node *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	if node == nil {
		return nil, nil, ""
	}
	if inner, after, ok := bracket(path); ok {
		key, value = element(node, inner)
		return key, value, after
	}
	path = strings.TrimPrefix(path, ".")
	// Keys may contain dots, so the longest key that matches takes precedence.
	for end := len(path); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if key, value := entry(node, path[:end], nil); value != nil {
			return key, value, path[end:]
		}
	}
	return nil, nil, ""
}

// bracket removes a part in brackets from the beginning of a path. It returns false for a path that does not begin with
// such a part.
func bracket(path string) (inner, rest string, ok bool) {
	path, ok = strings.CutPrefix(path, "[")
	if !ok {
		return "", "", false
	}
	return strings.Cut(path, "]")
}

// element returns the list item that has the given index or name, or the mapping entry that has the given key.
func element(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node.Kind != yaml.SequenceNode {
		return entry(node, name, nil)
	}
	if index, err := strconv.Atoi(name); err == nil {
		if index < 0 || index >= len(node.Content) {
			return nil, nil
		}
		return nil, node.Content[index]
	}
	for _, item := range node.Content {
		for _, field := range []string{"name", "id", "providerId"} {
			if _, value := entry(target(item), field, nil); value != nil && value.Value == name {
				return nil, item
			}
		}
	}
	return nil, nil
}

// entry returns the key and the value of an entry in a mapping or its merge keys. `seen` contains the mappings that the
// lookup has visited, because an anchor may contain itself.
func entry(node *yaml.Node, name string, seen map[*yaml.Node]bool) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode || seen[node] {
		return nil, nil
	}
	if key, value := ownEntry(node, name); value != nil {
		return key, value
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Tag != "!!merge" {
			continue
		}
		if seen == nil {
			seen = map[*yaml.Node]bool{}
		}
		seen[node] = true
		if key, value := merged(target(node.Content[i+1]), name, seen); value != nil {
			return key, value
		}
	}
	return nil, nil
}

// ownEntry returns the key and the value of an entry in a mapping. A key that is identical to the name takes precedence
// over a key that differs only in case or underscores.
func ownEntry(node *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	similar := spelled(name)
	for i := 0; i+1 < len(node.Content); i += 2 {
		if spelled(node.Content[i].Value) == similar {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// merged returns an entry of the mappings in the value of a merge key.
func merged(node *yaml.Node, name string, seen map[*yaml.Node]bool) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.SequenceNode {
		return entry(node, name, seen)
	}
	for _, item := range node.Content {
		if key, value := entry(target(item), name, seen); value != nil {
			return key, value
		}
	}
	return nil, nil
}

// spelled returns a key in lower case without underscores, because an API can be written as vector_io or vectorIo.
func spelled(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }

// target returns the node that an alias refers to. It returns any other node unchanged.
func target(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}
