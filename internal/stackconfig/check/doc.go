// Package check is the step of the engine that compares a whole configuration with the settings that the release reads.
// Anything that keeps the server from starting is an error. Anything that the server ignores is a warning.
package check
