package schema

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

// Extra says what a class does with a key it does not know.
type Extra string

const (
	// ExtraIgnore drops an unknown key silently. It is what nearly every class of the server does, and the reason why
	// a misspelt key never fails by itself.
	ExtraIgnore Extra = "ignore"
	// ExtraAllow keeps an unknown key and hands it on (to a client library, say).
	ExtraAllow Extra = "allow"
	// ExtraForbid refuses a configuration that has an unknown key.
	ExtraForbid Extra = "forbid"
)

// Class is one configuration class of the server: a mapping with known keys.
type Class struct {
	// Name is the class's name in the server's source; it is unique within a release.
	Name string
	// Extra says what happens to keys that are not in Keys.
	Extra Extra
	// Keys are the keys that are read, in the order in which the server declares them.
	Keys []Key
	// Rules are conditions on several keys at once, in the order in which they are checked.
	Rules []Rule

	index map[string]int
	// candidates are the names, made ready to be compared with unknown keys.
	candidates suggest.Candidates
}

// Key is one key of a class.
type Key struct {
	// Name is the key to write.
	Name string
	// Aliases are further names that are read as this key; Name is not among them.
	Aliases []string
	// Type is what the value must be.
	Type *Expr
	// Required says that the class refuses to load without the key. The key may still be null when Type allows null.
	Required bool
	// Default is the value used when the key is absent: nil, bool, string, json.Number, []any or map[string]any.
	// It is meaningful only when Required is false.
	Default any
	// DefaultVariables are the environment variables that Default is taken from when they are set.
	DefaultVariables []string
	// Secret says that the value is a credential: it is never shown, and it is set by reference.
	Secret bool
	// Deprecated says that the server accepts the key but asks not to use it.
	Deprecated bool
	// Internal says that the class inherited the key and does nothing with it; it is not offered to users.
	Internal bool
	// Limits are the bounds of the value, or nil.
	Limits *Limits
}

// Limits are the bounds that the server puts on a value. A nil bound does not exist.
type Limits struct {
	AtLeast   *float64 `json:"ge,omitempty"`
	Above     *float64 `json:"gt,omitempty"`
	AtMost    *float64 `json:"le,omitempty"`
	Below     *float64 `json:"lt,omitempty"`
	MinLength *int     `json:"min_length,omitempty"`
	MaxLength *int     `json:"max_length,omitempty"`
	// Pattern is a regular expression that a string has to match somewhere; it is in the syntax of Rust's regex
	// crate, which Go's regexp reads too.
	Pattern string `json:"pattern,omitempty"`
	// Means says in words what Pattern asks for, as it continues "must be …"; empty where the pattern says it well enough.
	Means string `json:"means,omitempty"`
	// Contains are the texts that a string has to hold, each somewhere.
	Contains []string `json:"contains,omitempty"`
	// Not are the strings that are refused, whatever their case.
	Not []string `json:"not,omitempty"`
	// Values are the bounds of each value of a list or a mapping.
	Values *Limits `json:"values,omitempty"`
}

// NewClass returns a class with the given keys.
func NewClass(name string, extra Extra, keys []Key) *Class {
	c := &Class{Name: name, Extra: extra}
	c.SetKeys(keys)
	return c
}

// SetKeys gives a class its keys. It is for classes that name each other: make them first, then fill them.
func (c *Class) SetKeys(keys []Key) {
	c.Keys = keys
	c.reindex()
}

// Key returns the key that the given name, or alias, is read as.
func (c *Class) Key(name string) (Key, bool) {
	if c == nil {
		return Key{}, false
	}
	i, ok := c.index[name]
	if !ok {
		return Key{}, false
	}
	return c.Keys[i], true
}

// HasPath reports whether the dotted path leads from the class through nested classes to a key:
// `vector_stores.default_embedding_model`.
func (c *Class) HasPath(path string) bool {
	name, rest, nested := strings.Cut(path, ".")
	key, ok := c.Key(name)
	if !ok || !nested {
		return ok
	}
	for _, e := range append([]*Expr{key.Type}, key.Type.Args...) {
		if e.Class != nil && e.Class.HasPath(rest) {
			return true
		}
	}
	return false
}

// Names returns the names of all keys, without aliases, in declared order.
func (c *Class) Names() []string {
	if c == nil {
		return nil
	}
	names := make([]string, len(c.Keys))
	for i := range c.Keys {
		names[i] = c.Keys[i].Name
	}
	return names
}

// reindex makes Key find every name.
func (c *Class) reindex() {
	c.index = make(map[string]int, len(c.Keys))
	c.candidates = suggest.Among(c.Names())
	for i := range c.Keys {
		for _, alias := range c.Keys[i].Aliases {
			c.index[alias] = i
		}
	}
	// Second, so that a key's own name wins over another key's alias.
	for i := range c.Keys {
		c.index[c.Keys[i].Name] = i
	}
}
