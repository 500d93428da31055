package manifest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// writer creates the YAML nodes of an object.
type writer struct {
	written text
	remarks
}

// value returns the node of a JSON value at a place, with its comments.
func (w *writer) value(value any, typ reflect.Type, at []string) *yaml.Node {
	var node *yaml.Node
	switch v := value.(type) {
	case map[string]any:
		node = w.mapping(v, typ, at)
	case []any:
		node = w.sequence(v, typ, at)
	case string:
		node = textNode(v)
	case json.Number:
		node = yamlnode.FromJSON(v)
	default:
		node = yamlnode.FromJSON(value)
	}
	w.written.commentValue(node, at)
	return node
}

func (w *writer) mapping(object map[string]any, typ reflect.Type, at []string) *yaml.Node {
	node := yamlnode.Map()
	for _, name := range keys(object, typ, w.written.keys(at)) {
		below := append(slices.Clone(at), name)
		key, value := yamlnode.String(name), w.value(object[name], field(typ, name), below)
		w.written.commentKey(key, below)
		addComment(key, w.comment(below))
		settle(key, value)
		node.Content = append(node.Content, key, value)
	}
	return node
}

func (w *writer) sequence(items []any, typ reflect.Type, at []string) *yaml.Node {
	node := yamlnode.Seq()
	for i, inner := range items {
		value := w.value(inner, item(typ), append(slices.Clone(at), strconv.Itoa(i)))
		if isBlock(value) {
			value.HeadComment, value.LineComment = joined(value.HeadComment, value.LineComment), ""
		}
		node.Content = append(node.Content, value)
	}
	return node
}

// settle moves the comments of a key and its value to positions that YAML supports.
func settle(key, value *yaml.Node) {
	if !isBlock(value) {
		value.HeadComment, key.HeadComment = "", joined(key.HeadComment, value.HeadComment)
		value.LineComment, key.LineComment = joined(key.LineComment, value.LineComment), ""
		if strings.Contains(value.LineComment, "\n") || value.Style == yaml.LiteralStyle {
			value.LineComment, key.HeadComment = "", joined(key.HeadComment, value.LineComment)
		}
		return
	}
	key.HeadComment = joined(joined(key.HeadComment, value.HeadComment), value.LineComment)
	value.HeadComment, value.LineComment = "", ""
}

// isBlock reports whether a value is written on the lines below its key.
func isBlock(value *yaml.Node) bool { return len(value.Content) > 0 }

// textNode returns the node of a string. A string with several lines becomes a block, unless the first line is empty or
// a line needs quotes.
func textNode(value string) *yaml.Node {
	node := yamlnode.String(value)
	if lines := strings.Split(value, "\n"); len(lines) > 1 && !slices.ContainsFunc(lines, needsQuotes) && lines[0] != "" {
		node.Style = yaml.LiteralStyle
	}
	return node
}

// needsQuotes reports whether a line of a string would change or be invisible without quotes.
func needsQuotes(line string) bool {
	return line != strings.TrimRight(line, " \t") || strings.HasPrefix(line, " ") && strings.TrimSpace(line) == "" ||
		yamlnode.String(line).Style == yaml.DoubleQuotedStyle
}

// commentWidth is the maximum length of a line in a comment. Longer words are not broken.
const commentWidth = 100

// addComment adds a comment below the existing comments above a key.
func addComment(key *yaml.Node, comment string) {
	if comment != "" && !strings.Contains(key.HeadComment, wrapped(comment)) { // an earlier conversion may have added it
		key.HeadComment = joined(key.HeadComment, wrapped(comment))
	}
}

// wrapped returns a string as a comment whose lines are wrapped. Each line of the string is a paragraph.
func wrapped(comment string) string {
	var lines []string
	for paragraph := range strings.SplitSeq(comment, "\n") {
		words := strings.Fields(paragraph)
		line, hang := "#", ""
		if strings.HasPrefix(paragraph, "- ") {
			hang = "  "
		}
		for _, word := range words {
			if len(line)+1+len(word) > commentWidth && line != "#" {
				lines, line = append(lines, line), "#"+hang
			}
			line += " " + word
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
