// Package version implements the command version. It determines the versions of the operators in a cluster, and
// compares them with the version of the command.
package version
