// Package offline is the step of the engine that finds the parts of a configuration that need the internet, for a stack
// in an offline cluster. A part that keeps the server from starting is an error. A part that only fails when it is used
// is a warning.
package offline
