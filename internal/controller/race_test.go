//go:build race

package controller_test

// slowdown is how much longer everything takes, at most: the race detector looks at
// each access to memory.
const slowdown = 3
