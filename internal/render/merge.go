package render

import "slices"

// lastOfEach keeps the last item with each key, in order: API objects refuse two.
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

// without keeps the items of ours whose key none of the user's has.
func without[T, U any](ours []T, key func(T) string, users []U, userKey func(U) string) []T {
	var result []T
	for _, item := range ours {
		k := key(item)
		if !slices.ContainsFunc(users, func(user U) bool { return userKey(user) == k }) {
			result = append(result, item)
		}
	}
	return result
}
