package convert

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// path leads through JSON objects. An empty one is the root.
type path []string

// at is the value at a path, nil when there is none.
func at(tree map[string]any, p path) any {
	value, _ := lookup(tree, p)
	return value
}

func lookup(tree map[string]any, p path) (any, bool) {
	value, found, _ := unstructured.NestedFieldNoCopy(tree, p...) // no object on the way is no value
	return value, found
}

// set writes a copy of a value and makes the objects on the way. Where something else
// stands on the way, nothing is written: only a damaged annotation asks for that.
func set(tree map[string]any, p path, value any) {
	_ = unstructured.SetNestedField(tree, value, p...)
}

// deleteAt removes what is at a path.
func deleteAt(tree map[string]any, p path) { unstructured.RemoveNestedField(tree, p...) }

// merged is the union of two objects; of a key in both, over's value.
func merged(under, over map[string]any) map[string]any {
	result := make(map[string]any, len(under)+len(over))
	maps.Copy(result, under)
	maps.Copy(result, over)
	return result
}
