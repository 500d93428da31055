package yamlnode

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Encode writes a tree in the layout of the server's own configurations: blocks, with the dashes of a list in the same
// column as its key. Collections in braces or brackets keep this form. Scalars keep their original text, because the
// server's reader follows YAML 1.1 and the operator's parser follows YAML 1.2. For example, the server reads 12:30:00
// as a number and the parser reads it as text, so quotes would change the value that the server reads. The comment
// comes first.
func Encode(root *yaml.Node, comment string) []byte {
	w := writer{out: append(make([]byte, 0, 16<<10), comment...)}
	switch {
	case !isBlock(root):
		w.inline(root, 0)
		w.out = append(w.out, '\n')
	case root.Kind == yaml.SequenceNode:
		w.sequence(root, 0)
	default:
		w.mapping(root, 0)
	}
	return w.out
}

type writer struct{ out []byte }

func (w *writer) text(s string) { w.out = append(w.out, s...) }

const spaces = "                                                                "

func (w *writer) newLine(indent int) {
	w.out = append(w.out, '\n')
	w.indent(indent)
}

func (w *writer) indent(indent int) {
	for indent > len(spaces) {
		w.text(spaces)
		indent -= len(spaces)
	}
	w.text(spaces[:indent])
}

// isBlock reports whether a node is written on separate lines.
func isBlock(node *yaml.Node) bool {
	return (node.Kind == yaml.MappingNode || node.Kind == yaml.SequenceNode) &&
		len(node.Content) > 0 && node.Style&yaml.FlowStyle == 0
}

// mapping writes the pairs of a mapping. It writes the first key at the end of the current line, and ends the last
// line.
func (w *writer) mapping(node *yaml.Node, indent int) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		if i > 0 {
			w.indent(indent)
		}
		w.key(node.Content[i], indent)
		w.value(node.Content[i+1], indent)
	}
}

// maxSimpleKey is the maximum length of a key without a leading question mark.
const maxSimpleKey = 1000

func (w *writer) key(key *yaml.Node, indent int) {
	start := len(w.out)
	w.scalar(key, keyContext)
	if len(w.out)-start <= maxSimpleKey {
		w.text(":")
		return
	}
	long := string(w.out[start:])
	w.out = append(append(w.out[:start], "? "...), long...)
	w.newLine(indent)
	w.text(":")
}

// value writes the part after the colon of a key, and ends the line.
func (w *writer) value(node *yaml.Node, indent int) {
	switch {
	case !isBlock(node):
		w.text(" ")
		w.inline(node, indent)
		w.out = append(w.out, '\n')
	case node.Kind == yaml.SequenceNode:
		w.tag(node, " ")
		w.newLine(indent)
		w.sequence(node, indent)
	default:
		w.tag(node, " ")
		w.newLine(indent + 2)
		w.mapping(node, indent+2)
	}
}

func (w *writer) sequence(node *yaml.Node, indent int) {
	for i, item := range node.Content {
		if i > 0 {
			w.indent(indent)
		}
		w.text("- ")
		switch {
		case !isBlock(item):
			w.inline(item, indent)
			w.out = append(w.out, '\n')
		case item.Kind == yaml.SequenceNode:
			w.tag(item, "")
			w.breakAfterTag(item, indent+2)
			w.sequence(item, indent+2)
		default:
			w.tag(item, "")
			w.breakAfterTag(item, indent+2)
			w.mapping(item, indent+2)
		}
	}
}

func (w *writer) breakAfterTag(node *yaml.Node, indent int) {
	if node.Style&yaml.TaggedStyle != 0 {
		w.newLine(indent)
	}
}

// tag writes the tag of a node with an explicit tag.
func (w *writer) tag(node *yaml.Node, before string) {
	if node.Style&yaml.TaggedStyle != 0 {
		w.text(before)
		w.text(node.ShortTag())
	}
}

// inline writes a scalar, or a collection in braces or brackets.
func (w *writer) inline(node *yaml.Node, indent int) {
	switch node.Kind {
	case yaml.MappingNode:
		w.taggedSpace(node)
		w.text("{")
		for i := 0; i+1 < len(node.Content); i += 2 {
			w.comma(i)
			w.flowKey(node.Content[i])
			w.flowItem(node.Content[i+1])
		}
		w.text("}")
	case yaml.SequenceNode:
		w.taggedSpace(node)
		w.text("[")
		for i, item := range node.Content {
			w.comma(i)
			w.flowItem(item)
		}
		w.text("]")
	case yaml.ScalarNode, yaml.DocumentNode, yaml.AliasNode:
		w.scalar(node, context(indent))
	}
}

func (w *writer) taggedSpace(node *yaml.Node) {
	if node.Style&yaml.TaggedStyle != 0 {
		w.tag(node, "")
		w.text(" ")
	}
}

func (w *writer) comma(i int) {
	if i > 0 {
		w.text(", ")
	}
}

func (w *writer) flowKey(key *yaml.Node) {
	start := len(w.out)
	w.scalar(key, flowContext)
	if len(w.out)-start > maxSimpleKey {
		long := string(w.out[start:])
		w.out = append(append(w.out[:start], "? "...), long...)
		w.text(" ")
	}
	w.text(": ")
}

func (w *writer) flowItem(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode {
		w.scalar(node, flowContext)
		return
	}
	w.inline(node, 0)
}

// context is the place of a scalar: a key, a value inside braces or brackets, or a value in a block with the given
// indentation.
type context int

const (
	keyContext  context = -1
	flowContext context = -2
)

// scalar writes the original text of a scalar where that is safe, and otherwise different text with the same value.
func (w *writer) scalar(node *yaml.Node, at context) {
	w.taggedSpace(node)
	value := node.Value
	switch {
	case node.Style&yaml.DoubleQuotedStyle != 0:
		w.doubleQuoted(value)
	case node.Style&yaml.SingleQuotedStyle != 0:
		w.singleQuoted(value)
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		if at < 0 || !fitsLiteral(value) {
			w.doubleQuoted(value)
			return
		}
		w.literal(value, int(at))
	case value == "" && node.ShortTag() == nullTag:
		w.text("null")
	case value == "=" || value == "<<":
		w.singleQuoted(value) // the server's reader has special types for these strings and rejects them
	case !fitsPlain(value) || (at == flowContext && (value[0] == ':' || strings.ContainsAny(value, ",?[]{}"))):
		w.singleQuoted(value)
	default:
		w.text(value)
	}
}

func (w *writer) singleQuoted(value string) {
	if strings.ContainsFunc(value, needsEscape) {
		w.doubleQuoted(value)
		return
	}
	w.text("'")
	w.text(strings.ReplaceAll(value, "'", "''"))
	w.text("'")
}

func (w *writer) doubleQuoted(value string) {
	const hexDigits = "0123456789abcdef"
	w.text(`"`)
	for _, r := range value {
		switch {
		case r == '"' || r == '\\':
			w.out = append(w.out, '\\', byte(r))
		case r == '\n':
			w.text(`\n`)
		case r == '\t':
			w.text(`\t`)
		case r == '\r':
			w.text(`\r`)
		case needsEscape(r) || r == 0xfffe || r == 0xffff:
			w.text(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				w.out = append(w.out, hexDigits[(r>>shift)&15])
			}
		default:
			w.out = append(w.out, string(r)...)
		}
	}
	w.text(`"`)
}

// fitsLiteral reports whether text can be written as a block without an indentation indicator: it starts with a visible
// character, has no line that consists only of spaces, and has no character that needs an escape.
func fitsLiteral(value string) bool {
	if value == "" || strings.TrimSpace(value) == "" || value[0] == ' ' || value[0] == '\t' || value[0] == '\n' {
		return false
	}
	for line := range strings.SplitSeq(value, "\n") {
		if line != "" && strings.TrimSpace(line) == "" {
			return false
		}
	}
	return !strings.ContainsFunc(value, func(r rune) bool { return r != '\n' && r != '\t' && needsEscape(r) })
}

// literal writes a block that keeps its lines. The number of line breaks at the end of the text determines the
// indicator.
func (w *writer) literal(value string, indent int) {
	body := strings.TrimRight(value, "\n")
	ends := len(value) - len(body)
	switch ends {
	case 0:
		w.text("|-")
	case 1:
		w.text("|")
	default:
		w.text("|+")
	}
	for line := range strings.SplitSeq(body, "\n") {
		w.out = append(w.out, '\n')
		if line != "" {
			w.indent(indent + 2)
			w.text(line)
		}
	}
	for range ends - 1 {
		w.out = append(w.out, '\n')
	}
}

// fitsPlain reports whether text can be written without quotes in a block and as a key: it is one line of visible
// characters without YAML syntax.
func fitsPlain(value string) bool {
	if value == "" || strings.ContainsFunc(value, needsEscape) {
		return false
	}
	if value[0] == ' ' || value[len(value)-1] == ' ' || value[len(value)-1] == ':' {
		return false
	}
	if strings.HasPrefix(value, "---") || strings.HasPrefix(value, "...") {
		return false
	}
	switch value[0] {
	case ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '-', '?', ':':
		if len(value) == 1 || value[1] == ' ' {
			return false
		}
	}
	return !strings.Contains(value, ": ") && !strings.Contains(value, " #")
}
