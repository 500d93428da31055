// Package typecheck compares a JSON value with the Go type into which it is decoded, and finds all unknown fields and
// values of the wrong type. A decoder stops at the first value that it rejects, and its messages contain Go types. This
// package finds all problems at once. It describes each problem, with its path, in words for the user who wrote the
// value.
package typecheck
