// Package versionlist determines the versions of the operators in a cluster, and compares them with that of the
// command.
package versionlist
