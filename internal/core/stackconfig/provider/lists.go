package provider

import (
	"path"
	"slices"
	"strings"
)

// Lists contains the names of the models that a provider can list, by the type of the model. A `*` in a name stands for
// any text. The provider lists no model of a type that is not a key.
type Lists map[string][]string

// May reports whether the provider can list a model of a type under a name. It returns true if this is unknown.
func (l Lists) May(modelType, name string) bool {
	// Without slashes, a `*` matches any text, as in the server's search for a part of a name in lower case.
	plain := func(text string) string { return strings.ReplaceAll(strings.ToLower(text), "/", ":") }
	return l == nil || slices.ContainsFunc(l[modelType], func(pattern string) bool {
		matched, err := path.Match(plain(pattern), plain(name))
		return matched && err == nil
	})
}

// MayAny reports whether the provider can list a model of some type under a name. It returns true if this is unknown.
func (l Lists) MayAny(name string) bool {
	for modelType := range l {
		if l.May(modelType, name) {
			return true
		}
	}
	return l == nil
}
