package binaries

import (
	"path"
	"regexp"
)

// Program is one executable.
type Program struct {
	// Name is the file's name in the cache, as envtest and users expect it.
	Name string
	// Package is the import path of the main package.
	Package string
}

var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// executable returns the name that the go command gives to the executable: the last element of the import path that is
// not a major version.
func (p Program) executable() string { return path.Base(majorVersion.ReplaceAllString(p.Package, "")) }
