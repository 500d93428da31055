package render

import (
	"maps"
	"slices"
)

// lastOfEach keeps the last item with each key, in order, because API objects reject duplicate keys.
func lastOfEach[T any](items []T, key func(T) string) []T {
	seen := make(map[string]bool, len(items))
	var result []T
	for _, item := range slices.Backward(items) {
		if k := key(item); !seen[k] {
			seen[k] = true
			result = append(result, item)
		}
	}
	slices.Reverse(result)
	return result
}

// merged returns a new map with the entries of all maps. The entries of later maps take precedence.
func merged(all ...map[string]string) map[string]string {
	result := map[string]string{}
	for _, entries := range all {
		maps.Copy(result, entries)
	}
	return result
}

// withUsers returns the operator's items with keys that the user's items do not have, followed by the user's items.
// Each key occurs once. The parameter path is the path of the user's items in the spec.
func withUsers[T, U any](path string, own []*T, ownKey func(*T) string, users []U, key func(U) string) ([]*T, error) {
	users = lastOfEach(users, key)
	taken := make(map[string]bool, len(users))
	for _, user := range users {
		taken[key(user)] = true
	}
	own = slices.DeleteFunc(own, func(item *T) bool { return taken[ownKey(item)] })
	configurations, err := applyConfiguration[[]*T](path, users)
	return append(own, configurations...), err
}
