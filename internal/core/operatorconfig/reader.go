package operatorconfig

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// node is a value with its path.
type node struct {
	path  *field.Path
	value *yaml.Node
}

// given reports whether there is a value. An empty document or null is not a value.
func (n node) given() bool {
	return n.value != nil && (n.value.Kind != yaml.ScalarNode || n.value.Tag != "!!null")
}

// reader collects errors.
type reader struct {
	errs field.ErrorList
}

func (r *reader) fail(path *field.Path, value any, detail string) {
	r.errs = append(r.errs, field.Invalid(path, value, detail))
}

// document reads the only YAML document of a key. A document that contains only comments has no value.
func (r *reader) document(path *field.Path, text string) node {
	root, err := decode(text)
	if err != nil {
		r.fail(path, "", err.Error())
		return node{path: path}
	}
	return node{path, root}
}

// decode returns the root of a document, or nil if it is empty.
func decode(text string) (root *yaml.Node, err error) {
	// A panic in the parser, which is a library, must not stop the operator.
	defer func() {
		if cause := recover(); cause != nil {
			root, err = nil, errors.New("is not YAML")
		}
	}()
	decoder := yaml.NewDecoder(strings.NewReader(text))
	document := new(yaml.Node)
	switch err := decoder.Decode(document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("is not YAML: %w", err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("contains more than one YAML document; keep one document")
	}
	return document.Content[0], nil
}

// entry is one entry of a mapping.
type entry struct {
	key   string
	value node
}

// entries reads a mapping. The function child returns the path of the value for a key.
func (r *reader) entries(n node, child func(*field.Path, string) *field.Path) []entry {
	if n.value.Kind != yaml.MappingNode {
		r.wrongType(n, "a mapping")
		return nil
	}
	seen := map[string]bool{}
	var found []entry
	for i := 0; i+1 < len(n.value.Content); i += 2 {
		key := n.value.Content[i]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			r.fail(n.path, "", fmt.Sprintf("line %d: a key must be text", key.Line))
			continue
		}
		path := child(n.path, key.Value)
		if seen[key.Value] {
			r.fail(path, key.Value, fmt.Sprintf("line %d: duplicate key %q", key.Line, key.Value))
			continue
		}
		seen[key.Value] = true
		found = append(found, entry{key.Value, node{path, n.value.Content[i+1]}})
	}
	return found
}

// fields reads a mapping with known keys. For each key that has a value, it calls the function that reads this key.
func (r *reader) fields(n node, read map[string]func(node)) {
	for _, e := range r.entries(n, func(path *field.Path, name string) *field.Path { return path.Child(name) }) {
		one, known := read[e.key]
		switch {
		case !known:
			r.fail(e.value.path, e.key, unknown("field", e.key, slices.Sorted(maps.Keys(read))))
		case e.value.given():
			one(e.value)
		}
	}
}

// items reads a list.
func (r *reader) items(n node) []node {
	if n.value.Kind != yaml.SequenceNode {
		r.wrongType(n, "a list")
		return nil
	}
	items := make([]node, 0, len(n.value.Content))
	for i, value := range n.value.Content {
		items = append(items, node{n.path.Index(i), value})
	}
	return items
}

// boolean reads true or false.
func (r *reader) boolean(n node) bool {
	var value bool
	if n.value.Kind != yaml.ScalarNode || n.value.Tag != "!!bool" || n.value.Decode(&value) != nil {
		r.wrongType(n, "true or false")
	}
	return value
}

// text reads a string. It returns false if the value is not a string.
func (r *reader) text(n node) (string, bool) {
	if n.value.Kind == yaml.ScalarNode && n.value.Tag == "!!str" {
		return n.value.Value, true
	}
	r.wrongType(n, "text")
	return "", false
}

// duration reads a duration such as 90s or 1h30m, within bounds.
func (r *reader) duration(n node, least, most time.Duration) time.Duration {
	text, ok := r.text(n)
	if !ok {
		return 0
	}
	value, err := time.ParseDuration(text)
	if err != nil {
		r.fail(n.path, text, fmt.Sprintf("line %d: %q is not a duration: write one like 90s or 1h30m", n.value.Line, text))
		return 0
	}
	if value < least || value > most {
		r.fail(n.path, text, fmt.Sprintf("line %d: %q is not between %v and %v", n.value.Line, text, least, most))
		return 0
	}
	return value
}

func (r *reader) wrongType(n node, want string) {
	got, value := typeName(n.value), ""
	if n.given() && n.value.Kind == yaml.ScalarNode {
		value = n.value.Value
		got = fmt.Sprintf("%s %q", got, value)
		if want == "text" {
			got += "; put it in quotes"
		}
	}
	r.fail(n.path, value, fmt.Sprintf("line %d: must be %s, got %s", n.value.Line, want, got))
}

func typeName(value *yaml.Node) string {
	switch value.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.ScalarNode, yaml.DocumentNode:
	}
	switch value.Tag {
	case "!!null":
		return "an empty value"
	case "!!bool":
		return "the boolean"
	case "!!int", "!!float":
		return "the number"
	case "!!str":
		return "the text"
	default:
		return "the " + strings.TrimPrefix(value.Tag, "!!")
	}
}
