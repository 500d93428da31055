// Package check is the step of package stackconfig that compares a whole configuration with the settings that the
// release reads. Anything that prevents the server from starting is an error. Anything that the server ignores is a
// warning.
package check
