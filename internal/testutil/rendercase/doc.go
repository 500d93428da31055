// Package rendercase reads the inputs of the golden cases in internal/render/testdata, for tests of the rendered objects
// in package render and on an API server.
package rendercase
