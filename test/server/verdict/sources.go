package verdict

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Sources returns a digest of the packages of a module that the Go files below a directory import, directly or through
// each other. It includes the other files of these packages, because a package can embed them, but not their tests. It
// omits the packages in the parameter `without`, and the packages that only these import. root is the directory of the
// module. All other paths are relative to it.
func Sources(root, module, dir string, without ...string) (string, error) {
	var texts []string
	seen := slices.Clone(without)
	next, err := importedBelow(filepath.Join(root, dir), module)
	for len(next) > 0 && err == nil {
		path := next[0]
		next = next[1:]
		if slices.Contains(seen, path) || strings.HasPrefix(path, dir+"/") {
			continue
		}
		seen = append(seen, path)
		var digest string
		if digest, err = Tree(filepath.Join(root, path), isTest); err != nil {
			break
		}
		texts = append(texts, path, digest)
		var more []string
		more, err = imported(filepath.Join(root, path), module)
		next = append(next, more...)
	}
	if err != nil {
		return "", err
	}
	return Digest(texts...), nil
}

func isTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "testdata"
}

// importedBelow returns the packages of a module that the files below a directory import, including tests.
func importedBelow(dir, module string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".go" {
			return err
		}
		found, err := importsOf(path, module)
		paths = append(paths, found...)
		return err
	})
	return paths, err
}

// imported returns the packages of a module that the package in a directory imports.
func imported(dir, module string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read package: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".go" || isTest(entry.Name()) {
			continue
		}
		found, err := importsOf(filepath.Join(dir, entry.Name()), module)
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// importsOf returns the packages of a module that a file imports, as paths in the module. Build tags have no effect.
func importsOf(path, module string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("read imports: %w", err)
	}
	var paths []string
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("read imports: %w", err)
		}
		if inside, ok := strings.CutPrefix(name, module+"/"); ok {
			paths = append(paths, inside)
		}
	}
	return paths, nil
}
