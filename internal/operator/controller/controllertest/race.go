//go:build race

package controllertest

// Slowdown is an upper limit for the factor by which the race detector slows down the tests.
const Slowdown = 3
