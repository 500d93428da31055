package schema

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// Extra determines how a class handles unknown keys.
type Extra string

const (
	// ExtraIgnore means that the class silently ignores an unknown key. Nearly every server class does this, so a
	// misspelled key alone rarely causes an error (server fact 2).
	ExtraIgnore Extra = "ignore"
	// ExtraAllow means that the class keeps an unknown key and passes it on, for example to a client library.
	ExtraAllow Extra = "allow"
	// ExtraForbid means that the class rejects a configuration with an unknown key.
	ExtraForbid Extra = "forbid"
)

// Class is one configuration class of the server: a mapping with known keys.
type Class struct {
	// Name is the class's name in the server's source. It is unique within a release.
	Name string `json:"-"`
	// Extra determines how the class handles keys that are not in Keys.
	Extra Extra `json:"extra"`
	// Keys are the keys that the server reads, in the order in which it declares them.
	Keys []Key `json:"keys"`
	// Rules are conditions on several keys at once, in the order in which they are checked.
	Rules []Rule `json:"rules,omitempty"`
	// BackendFamily is the family of the storage backends, `kv` or `sql`, that the key `backend` of this class may name.
	// Empty means that the class does not refer to a backend.
	BackendFamily string `json:"backend_family,omitempty"`

	index map[string]int
	// candidates are the names of the keys, prepared for comparison with unknown keys.
	candidates suggest.Candidates
}

// Key is one key of a class.
type Key struct {
	// Name is the preferred name of the key.
	Name string `json:"name"`
	// Aliases are other names of this key, without Name.
	Aliases []string `json:"aliases,omitempty"`
	// Type is the type of the value.
	Type *Expr `json:"type"`
	// Required reports whether the key must be present for the class to load. The value of the key can be null when Type
	// allows null.
	Required bool `json:"required,omitempty"`
	// Default is the value used when the key is absent: nil, bool, string, float64, []any or map[string]any.
	// It is meaningful only when Required is false.
	Default any `json:"default,omitempty"`
	// DefaultVariables are the environment variables that set Default.
	DefaultVariables []string `json:"default_variables,omitempty"`
	// Secret reports whether the value is a credential. Messages never show the value, and users set it with a reference
	// to a Secret.
	Secret bool `json:"secret,omitempty"`
	// Deprecated reports whether the server accepts the key but advises against it.
	Deprecated bool `json:"deprecated,omitempty"`
	// Internal reports whether the class inherits the key and does not use it. Messages do not suggest the key to users.
	Internal bool `json:"internal,omitempty"`
	// Limits are the limits for the value, or nil.
	Limits *Limits `json:"limits,omitempty"`
}

// Limits are the server's limits for a value. Nil means no limit.
type Limits struct {
	AtLeast   *float64 `json:"ge,omitempty"`
	Above     *float64 `json:"gt,omitempty"`
	AtMost    *float64 `json:"le,omitempty"`
	Below     *float64 `json:"lt,omitempty"`
	MinLength *int     `json:"min_length,omitempty"`
	MaxLength *int     `json:"max_length,omitempty"`
	// Pattern is a regular expression that must match some part of a string. It has the syntax of Rust's regex crate,
	// which Go's regexp supports too.
	Pattern string `json:"pattern,omitempty"`
	// Means describes Pattern in words that follow "must be …". Empty means that the pattern is clear enough.
	Means string `json:"means,omitempty"`
	// Contains lists the substrings that a string must contain.
	Contains []string `json:"contains,omitempty"`
	// The server rejects each string in Not, regardless of case.
	Not []string `json:"not,omitempty"`
	// Values are the limits for each value in a list or a mapping.
	Values *Limits `json:"values,omitempty"`
}

// NewClass returns a class with the given keys.
func NewClass(name string, extra Extra, keys []Key) *Class {
	c := &Class{Name: name, Extra: extra}
	c.SetKeys(keys)
	return c
}

// SetKeys sets the keys of a class. All classes to which the keys refer must exist before SetKeys is called.
func (c *Class) SetKeys(keys []Key) {
	c.Keys = keys
	c.reindex()
}

// UnmarshalText reads a reference to a class: its name.
func (c *Class) UnmarshalText(text []byte) error {
	c.Name = string(text)
	return nil
}

// MarshalText writes a reference to a class: its name.
func (c *Class) MarshalText() ([]byte, error) { return []byte(c.Name), nil }

// Key returns the key with the given name or alias.
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

// HasPath reports whether the class, with its nested classes, has a key at a dotted path, for example
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

// reindex updates the candidates and the index of names that the method Key uses.
func (c *Class) reindex() {
	c.index = make(map[string]int, len(c.Keys))
	c.candidates = suggest.Among(c.Names())
	for i := range c.Keys {
		for _, alias := range c.Keys[i].Aliases {
			c.index[alias] = i
		}
	}
	// The names are added after the aliases, so that a key's own name takes precedence over another key's alias.
	for i := range c.Keys {
		c.index[c.Keys[i].Name] = i
	}
}
