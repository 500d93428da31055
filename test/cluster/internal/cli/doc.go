// Package cli turns the command line into calls of the other packages: one
// file per verb, progress on standard error, results on standard output.
package cli
