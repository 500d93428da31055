//go:build !race

package controller_test

// slowdown is the factor by which the race detector slows down the tests.
const slowdown = 1
