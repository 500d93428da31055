package absorb

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// patch adds the differences between two configurations to settings and removeSettings, except differences in values
// that other fields set. It reports whether it added anything.
func (c *candidate) patch(from, to object, path []string) bool {
	changed := false
	for _, key := range sortedKeys(to) {
		if value, there := from[key]; !there || !equal(value, to[key]) {
			changed = c.set(from[key], there, to[key], append(slices.Clone(path), key)) || changed
		}
	}
	for _, key := range sortedKeys(from) {
		if _, there := to[key]; !there {
			changed = c.remove(append(slices.Clone(path), key)) || changed
		}
	}
	return changed
}

// set writes a value, or each key of an object.
func (c *candidate) set(from any, there bool, to any, path []string) bool {
	instead, holds := intent.Owned(path...)
	theirs, isObject := to.(object)
	ours, wasObject := from.(object)
	switch {
	case instead != "":
		return false
	case isObject && len(theirs) > 0:
		return c.patch(ours, theirs, path)
	case holds || hasNull(to):
		return false // The later comparison reports this difference.
	}
	if isObject && there && wasObject {
		c.remove(path)
	}
	c.stays = append(c.stays, c.clearText(strings.Join(path, "."), path[len(path)-1], to, false)...)
	_ = unstructured.SetNestedField(c.settings, asJSON(to), path...) // fails only below a value that is not an object
	return true
}

// remove removes a value, unless another field sets the value or a part of it, or removeSettings cannot contain the
// path. It reports whether it removed the value.
func (c *candidate) remove(path []string) bool {
	instead, holds := intent.Owned(path...)
	dotted := slices.ContainsFunc(path, func(key string) bool { return key == "" || strings.ContainsAny(key, ". \t\n") })
	if instead != "" || holds || dotted {
		return false // The later comparison reports this difference.
	}
	c.removed = append(c.removed, strings.Join(path, "."))
	return true
}
