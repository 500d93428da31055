package binaries

// Program is one executable.
type Program struct {
	// Name is the file's name in the cache, as envtest and users expect it.
	Name string
	// Package is the import path of its main package, or "./folder" inside the set's module.
	Package string
}
