// Package check is the step of package stackconfig that compares a whole configuration with the settings that the
// release reads. Anything that prevents the server from starting is an error. A value that the server ignores is a
// warning, with the exceptions that Configuration describes.
package check
