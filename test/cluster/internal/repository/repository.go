package repository

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// module is the module path in the go.mod file at the root of the work tree.
const module = "github.com/llamastack/llama-stack-k8s-operator"

// Root is the absolute path of the work tree's top directory.
type Root string

// Find returns the work tree that contains the given directory. It returns an error if the directory is not in a work
// tree.
func Find(folder string) (Root, error) {
	start, err := filepath.Abs(folder)
	if err != nil {
		return "", fmt.Errorf("resolving %q: %w", folder, err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		name, err := moduleName(filepath.Join(dir, "go.mod"))
		if err != nil {
			return "", err
		}
		if name == module {
			return Root(dir), nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%q is not inside a work tree of %s: run this command in a work tree", start, module)
		}
	}
}

// Path returns the absolute form of a path that a user gave. A relative path is relative to the top of the work tree,
// because `go run -C` changes the current directory before the command starts.
func (r Root) Path(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(string(r), path)
}

// moduleName returns the module path in a go.mod file, or "" if the file does not exist.
func moduleName(file string) (string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the module's name: %w", err)
	}
	defer f.Close()

	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "module "); ok {
			return strings.Trim(strings.TrimSpace(name), `"`), nil
		}
	}
	return "", lines.Err()
}
