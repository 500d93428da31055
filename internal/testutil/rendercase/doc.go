// Package rendercase reads the inputs of the golden cases in internal/core/render/testdata. The tests of package render
// and tests with an API server use it.
package rendercase
