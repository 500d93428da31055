// Package rendercase reads the inputs of the golden cases in internal/render/testdata. Tests of package render use it,
// and tests on an API server.
package rendercase
