package envref

import (
	"cmp"
	"iter"
	"strings"
)

// Grammar determines which parts of a string are references.
type Grammar int

const (
	// Server finds the references that the server replaces.
	Server Grammar = iota
	// Lookalike also finds text that has the form of a reference with an invalid name. Such a name can contain any
	// characters except a colon and a closing brace. The server does not replace a reference for which Replaced is false.
	Lookalike
)

// prefix is the string with which every reference starts.
const prefix = "${env."

// These are the operators of a reference.
const (
	// Default precedes the text that is used while the variable is unset or empty.
	Default = ":="
	// Alternative precedes the text that is used while the variable is set and not empty.
	Alternative = ":+"
)

// Reference is one reference in a string.
type Reference struct {
	// Name is the name of the variable.
	Name string
	// Operator is Default, Alternative or empty.
	Operator string
	// Text follows the operator.
	Text string
}

// String returns the reference as it is written.
func (r Reference) String() string { return prefix + r.Name + r.Operator + r.Text + "}" }

// Replaced reports whether the server replaces a reference with this name.
func (r Reference) Replaced() bool { return r.Name != "" && nameLength(r.Name) == len(r.Name) }

// To returns the reference to a variable, without a default.
func To(variable string) string { return Reference{Name: variable}.String() }

// WithDefault returns the reference to a variable with a default.
func WithDefault(variable, text string) string {
	return Reference{Name: variable, Operator: Default, Text: text}.String()
}

// IsMeant reports whether a string probably contains a reference, well formed or not.
func IsMeant(text string) bool { return strings.Contains(text, prefix) }

// In reports whether the server replaces any part of a string.
func In(text string) bool {
	_, _, _, found := Server.next(text)
	return found
}

// Static returns the value of a string as far as it is known without the environment. A default or an alternative
// replaces its reference. A reference without either is unchanged. The result `condition` is the first variable with an
// alternative, or empty if there is none. While that variable is unset or empty, the actual value is shorter or empty.
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

// All returns the references in a string from left to right.
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

// First returns the first reference in a string.
func (g Grammar) First(text string) (Reference, bool) {
	_, reference, _, found := g.next(text)
	return reference, found
}

// Whole returns the reference in a string that consists of exactly one reference. It returns false for any other
// string.
func (g Grammar) Whole(text string) (Reference, bool) {
	before, reference, after, found := g.next(text)
	return reference, found && before == "" && after == ""
}

// Replace replaces each reference with the result of `replacement`, and the text between references with the result of
// `literal`. A nil `literal` does not change that text.
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

// next returns the first reference in a string. It runs in linear time for every string.
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

// fits reports whether a name is the start of a reference. The parameter `followed` is true if an operator or a closing
// brace follows the name.
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

// nameLength returns the length of the name at the start of a string.
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
