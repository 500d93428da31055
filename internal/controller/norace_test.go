//go:build !race

package controller_test

// slowdown is how much longer everything takes than without the race detector.
const slowdown = 1
