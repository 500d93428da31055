// Package rendercase reads the inputs of the golden cases in internal/render/testdata. Tests of package render and tests
// on an API server use it.
package rendercase
