// Package cli implements the commands of the tool, with one file for each command. The commands write progress to
// standard error and results to standard output.
package cli
