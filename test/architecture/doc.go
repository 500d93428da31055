// Package architecture holds the arrows of ARCHITECTURE.md: which package may import which, and what a pure package must
// not touch. The rules are one table, checked over what `go list` says; depguard in .golangci.yaml says the common
// mistakes earlier, in the editor.
package architecture
