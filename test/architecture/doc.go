// Package architecture holds the dependencies of docs/development/architecture.md: which package may import which, and
// what a pure package must not touch. The rules are one table, checked against the output of `go list`; depguard in
// .golangci.yaml reports the common mistakes earlier, in the editor. It also holds how long packages, files and
// functions may be.
package architecture
