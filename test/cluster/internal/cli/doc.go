// Package cli implements the command line with the other packages. It has one file per command, and writes progress to
// standard error and results to standard output.
package cli
