// Package versionlist determines the versions of the operators in a cluster, and compares them with the version of the
// command.
package versionlist
