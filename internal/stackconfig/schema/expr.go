package schema

// Kind is the kind of a type expression.
type Kind int

// The kinds of type expressions. What each accepts is what the server's parser accepts in its lax mode; Check
// documents the details.
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
	// Kind says which of the other fields are used.
	Kind Kind
	// Args are the members of a union, the element of a list, or the key and the value of a dict.
	Args []*Expr
	// Values are the accepted values of a literal or enum, as written in the expression.
	Values []string
	// Class is the class of a KindClass expression; nil when the release data does not describe it, which accepts
	// every mapping.
	Class *Class

	text string
}

// String returns the expression as it is written in the release data: `SecretStr | null`.
func (e *Expr) String() string { return e.text }
