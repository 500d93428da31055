// Package architecture checks the dependencies in docs/development/architecture.md: the packages that each package may
// import, and the standard packages that a pure package must not use. The rules are one table, checked against the
// output of `go list`; depguard in .golangci.yaml reports the common mistakes earlier, in the editor. It also limits
// the length of packages, files and functions.
package architecture
