//go:build !race

package controllertest

// Slowdown is the factor by which the race detector slows down the tests.
const Slowdown = 1
