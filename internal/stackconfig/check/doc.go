// Package check is the step of the engine that compares a whole configuration with what the release reads. What keeps the
// server from starting is an error, what it ignores is a warning.
package check
