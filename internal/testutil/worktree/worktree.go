// Package worktree finds the work tree of this repository for tests and development programs. Only they import it.
package worktree

import (
	"bytes"
	"os"
	"path/filepath"
)

// module is the first line of the go.mod file at the top of the work tree.
const module = "module github.com/llamastack/llama-stack-k8s-operator\n"

// Root returns the path of the top directory of the work tree that contains the current directory. `go test` runs each
// test in the directory of its package. Root panics outside a work tree. It does not use the paths in the binary,
// because `go build -trimpath` removes them.
func Root() string {
	start, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(content, []byte(module)) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic(start + " is not in a work tree of the operator")
		}
	}
}
