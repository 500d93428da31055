package release

import (
	"maps"
	"slices"
)

// sortedKeys returns the keys of a map in ascending order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// first returns the first item that matches. It returns false when no item matches.
func first[T any](items []T, match func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(items, match); i >= 0 {
		return items[i], true
	}
	return found, false
}
