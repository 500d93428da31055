package envref

import (
	"cmp"
	"iter"
	"strings"
)

// Grammar decides which parts of a text are references.
type Grammar int

const (
	// Server finds what the server replaces.
	Server Grammar = iota
	// Lookalike finds what has the form of a reference, with any name without a colon and a closing brace. The server
	// leaves those with another name than Replaced allows as they are.
	Lookalike
)

// prefix begins every reference.
const prefix = "${env."

// The operators of a reference.
const (
	// Default stands before the text that is used while the variable is unset.
	Default = ":="
	// Alternative stands before the text that is used while the variable is set.
	Alternative = ":+"
)

// Reference is one reference of a text.
type Reference struct {
	// Name is the name of the variable.
	Name string
	// Operator is Default, Alternative or empty.
	Operator string
	// Text follows the operator.
	Text string
}

// String is the reference as it is written.
func (r Reference) String() string { return prefix + r.Name + r.Operator + r.Text + "}" }

// Replaced reports whether the server replaces a reference with this name.
func (r Reference) Replaced() bool { return r.Name != "" && nameLength(r.Name) == len(r.Name) }

// To is the reference to a variable, without a default.
func To(variable string) string { return Reference{Name: variable}.String() }

// WithDefault is the reference to a variable that has a default.
func WithDefault(variable, text string) string {
	return Reference{Name: variable, Operator: Default, Text: text}.String()
}

// IsMeant reports whether a person meant a text to have a reference, well formed or not.
func IsMeant(text string) bool { return strings.Contains(text, prefix) }

// In reports whether the server replaces a part of a text.
func In(text string) bool {
	_, _, _, found := Server.next(text)
	return found
}

// Static is what a text stands for as far as that can be told without the environment: a default and an alternative take
// the place of their references, and a reference without either stays. The text depends on condition, the first variable
// that has an alternative, and is empty or shorter while that is unset.
func Static(text string) (static, condition string) {
	if !IsMeant(text) {
		return text, ""
	}
	static = Lookalike.Replace(text, func(found Reference) string {
		switch found.Operator {
		case Alternative:
			condition = cmp.Or(condition, found.Name)
			return found.Text
		case Default:
			return found.Text
		default:
			return found.String()
		}
	}, nil)
	return static, condition
}

// All returns the references of a text from left to right.
func (g Grammar) All(text string) iter.Seq[Reference] {
	return func(yield func(Reference) bool) {
		for {
			_, reference, after, found := g.next(text)
			if !found || !yield(reference) {
				return
			}
			text = after
		}
	}
}

// First returns the first reference of a text.
func (g Grammar) First(text string) (Reference, bool) {
	_, reference, _, found := g.next(text)
	return reference, found
}

// Whole returns the reference that a text is, with nothing before and after it.
func (g Grammar) Whole(text string) (Reference, bool) {
	before, reference, after, found := g.next(text)
	return reference, found && before == "" && after == ""
}

// Replace puts something else in the place of each reference, and writes what is between them by literal, which may be nil.
func (g Grammar) Replace(text string, replacement func(Reference) string, literal func(string) string) string {
	if literal == nil {
		literal = func(text string) string { return text }
	}
	var b strings.Builder
	for {
		before, reference, after, found := g.next(text)
		if !found {
			b.WriteString(literal(text))
			return b.String()
		}
		b.WriteString(literal(before))
		b.WriteString(replacement(reference))
		text = after
	}
}

// next finds the first reference of a text. The time it takes grows with the length of the text, whatever is in it.
func (g Grammar) next(text string) (before string, reference Reference, after string, found bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], prefix)
		if i < 0 {
			return text, Reference{}, "", false
		}
		start := at + i
		name := start + len(prefix)
		rest := name + g.nameLength(text[name:])
		reference, operator := Reference{Name: text[name:rest]}, operatorOf(text[rest:])
		closed := strings.HasPrefix(text[rest:], "}")
		if !g.fits(reference.Name, closed || operator != "") {
			at = rest
			continue
		}
		rest += len(operator)
		end := strings.IndexByte(text[rest:], '}')
		if end < 0 {
			return text, Reference{}, "", false
		}
		reference.Operator, reference.Text = operator, text[rest:rest+end]
		return text[:start], reference, text[rest+end+1:], true
	}
}

// fits reports whether a name, followed by an operator or a closing brace or not, begins a reference.
func (g Grammar) fits(name string, followed bool) bool {
	return followed && (g == Lookalike || name != "")
}

func (g Grammar) nameLength(text string) int {
	if g != Lookalike {
		return nameLength(text)
	}
	if end := strings.IndexAny(text, ":}"); end >= 0 {
		return end
	}
	return len(text)
}

// nameLength is the length of the name that a text begins with.
func nameLength(text string) int {
	for i := range len(text) {
		if c := text[i]; c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

func operatorOf(text string) string {
	for _, operator := range []string{Default, Alternative} {
		if strings.HasPrefix(text, operator) {
			return operator
		}
	}
	return ""
}
