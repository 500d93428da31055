// Package offline is the step of package stackconfig that finds the parts of a configuration that need the internet,
// for a stack in an offline cluster. A part that prevents the server from starting is an error. A part that fails only
// when it is used is a warning.
package offline
