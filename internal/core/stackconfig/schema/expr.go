package schema

import (
	"slices"
	"strings"
)

// Kind is the kind of a type expression.
type Kind int

// These are the kinds of types. Each kind accepts the values that the server's parser accepts in its lax mode.
const (
	KindAny     Kind = iota // any value
	KindNull                // null
	KindBool                // bool
	KindInt                 // int
	KindFloat               // float
	KindStr                 // str
	KindURL                 // HttpUrl: a string with an http or https URL
	KindSecret              // SecretStr: a string that is never shown
	KindPath                // Path: a string that names a file or directory
	KindLiteral             // literal[a, b] and enum[a, b]: one of Values
	KindList                // list[T], set[T], tuple[T, …]
	KindDict                // dict[K, V]
	KindUnion               // A | B
	KindClass               // the name of a class: a mapping with that class's keys
)

// Expr is a parsed type expression such as `dict[str, list[Provider]] | null`.
type Expr struct {
	// Kind determines which of the other fields are used.
	Kind Kind
	// Args are the types of a union's members, a list's items, a tuple's positions, or a dict's keys and values.
	Args []*Expr
	// Values are the accepted values of a literal or enum, as written in the expression.
	Values []string
	// Class is the class of a KindClass expression. It is nil for every other kind. The name of a class that the release
	// data does not describe becomes a KindAny expression.
	Class *Class

	text string
}

// String returns the expression as it is written in the release data, for example `SecretStr | null`.
func (e *Expr) String() string { return e.text }

// UnmarshalText reads only the text of an expression. A Parser reads the rest from String.
func (e *Expr) UnmarshalText(text []byte) error {
	e.text = string(text)
	return nil
}

// MarshalText writes an expression as String does.
func (e *Expr) MarshalText() ([]byte, error) { return []byte(e.text), nil }

// Words describes a value of the type for users, for example "a whole number" or "one of llm, embedding". For a union,
// it does not mention null, because users should omit the key instead.
func (e *Expr) Words() string {
	switch e.Kind {
	case KindLiteral:
		return oneOf(e.Values)
	case KindUnion:
		return e.unionWords()
	default:
		return kindWords[e.Kind]
	}
}

var kindWords = map[Kind]string{
	KindAny: "any value", KindNull: "null", KindBool: "true or false", KindInt: "a whole number", KindFloat: "a number",
	KindStr: wordText, KindSecret: wordText, KindURL: "a URL that begins with http:// or https://", KindPath: "a path",
	KindList: "a list", KindDict: "a mapping", KindClass: "a mapping",
}

// unionWords returns the words for the members, without duplicates.
func (e *Expr) unionWords() string {
	var words []string
	for _, member := range e.Args {
		if text := member.Words(); member.Kind != KindNull && !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	if len(words) == 0 {
		return "null"
	}
	return strings.Join(words, " or ")
}

func oneOf(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	return anyOf + strings.Join(values, ", ")
}

const (
	// anyOf is the text before a list of allowed values.
	anyOf    = "one of "
	wordText = "text"
)
