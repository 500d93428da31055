package verdict

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Code is the code of a module. It is not safe for concurrent use.
type Code struct {
	root, module string
	skip         func(path string) bool
	packages     map[string]*goPackage // without tests, keyed by path
}

// NewCode returns the code of the module in the directory root, without the files, the directories and the packages for
// which skip returns true. It is also without the packages that only these packages import. All other paths are
// relative to root.
func NewCode(root, module string, skip func(path string) bool) *Code {
	return &Code{root: root, module: module, skip: skip, packages: map[string]*goPackage{}}
}

// Digest returns a digest of what functions or types of a package can run: the declarations whose names occur in them
// or in each other, TestMain, and what every program with these packages runs when it starts. A type includes its
// methods, because a call does not name the type. If several declarations have the same name, for example in files with
// different build tags, the name stands for all of them. Comments have no effect, except directives.
//
// The digest also includes the files next to a declaration, if its file embeds files. It always includes the files of
// a package below test, because tests read them. Only the package at path includes its tests.
func (c *Code) Digest(path string, names ...string) (string, error) {
	start, err := c.parse(path, true)
	if err != nil {
		return "", err
	}
	linked := map[string]*goPackage{}
	c.link(start, linked)
	texts, withFiles := map[string]bool{}, map[string]bool{}
	for ref, found := range reached(linked, path, append(names, "TestMain")) {
		texts[ref.path+"\n"+found.text] = true
		if found.embeds || strings.HasPrefix(ref.path, "test/") {
			withFiles[ref.path] = true
		}
	}
	parts := slices.Sorted(maps.Keys(texts))
	for _, path := range slices.Sorted(maps.Keys(withFiles)) {
		files, err := c.files(path)
		if err != nil {
			return "", err
		}
		parts = append(parts, path, files)
	}
	return Digest(parts...), nil
}

// link adds a package, and the packages that it imports, directly or through each other.
func (c *Code) link(p *goPackage, linked map[string]*goPackage) {
	if linked[p.path] != nil {
		return
	}
	linked[p.path] = p
	for _, path := range p.imports {
		c.link(c.packages[path], linked)
	}
}

// files returns a digest of the files of a package that are not Go code. Only tests read testdata.
func (c *Code) files(path string) (string, error) {
	return Tree(filepath.Join(c.root, path), func(file string) bool {
		return filepath.Ext(file) == ".go" || c.skip(filepath.Join(path, file)) ||
			filepath.Base(file) == "testdata" && !strings.HasPrefix(path, "test/")
	})
}

// imported returns a package of the module, without its tests.
func (c *Code) imported(path string) (*goPackage, error) {
	p := c.packages[path]
	if p == nil {
		var err error
		if p, err = c.parse(path, false); err != nil {
			return nil, err
		}
		c.packages[path] = p
	}
	return p, nil
}

// parse reads the files of a package. Build tags have no effect.
func (c *Code) parse(path string, tests bool) (*goPackage, error) {
	files, err := filepath.Glob(filepath.Join(c.root, path, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("read package %q: %w", path, err)
	}
	p := &goPackage{path: path, foreign: c.skip(path), declarations: map[string][]declaration{}}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") && !tests {
			continue
		}
		content, err := os.ReadFile(file)
		if err == nil {
			err = p.add(c, content)
		}
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", file, err)
		}
	}
	if len(p.declarations) == 0 {
		return nil, fmt.Errorf("the package %q declares nothing", path)
	}
	return p, nil
}
