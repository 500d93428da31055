package binaries

// Program is one executable.
type Program struct {
	// Name is the file's name in the cache, as envtest and users expect it.
	Name string
	// Package is the import path of the main package, or "./folder" for a package in the set's module.
	Package string
}
