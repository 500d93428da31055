// Package architecture checks the dependencies that docs/development/architecture.md describes: the packages that each
// package may import, and the standard packages that a pure package must not use. The test compares a table of rules
// with the output of `go list`. The linter depguard, which .golangci.yaml configures, reports the common mistakes
// earlier, in the editor. The package also limits the length of packages, files and functions.
package architecture
