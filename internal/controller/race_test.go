//go:build race

package controller_test

// slowdown bounds the factor by which tests take longer: the race detector checks each memory access.
const slowdown = 3
