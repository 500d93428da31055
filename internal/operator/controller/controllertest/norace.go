//go:build !race

package controllertest

// Slowdown is 1, because the tests run without the race detector.
const Slowdown = 1
