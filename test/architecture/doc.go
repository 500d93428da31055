// Package architecture checks the dependencies of docs/development/architecture.md: which package may import which, and
// what a pure package must not touch. The rules are one table, checked against the output of `go list`; depguard in
// .golangci.yaml reports the common mistakes earlier, in the editor. It also limits the length of packages, files and
// functions.
package architecture
