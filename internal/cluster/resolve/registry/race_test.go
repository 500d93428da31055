//go:build race

package registry

// raced reports whether the race detector is on.
const raced = true
