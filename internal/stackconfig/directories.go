package stackconfig

import (
	"path"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// directories finds the sqlite files whose directory the server does not make, so
// that the pod makes it first. A key-value backend makes its own; the relational
// one does not, and fails at the start or at the first request (SERVER.md 1.2). It
// comes up when the key-value state moves away from the directory the two shared.
func (c *checker) directories() {
	backends := yamlnode.At(c.root, "storage", "backends")
	for i := 0; backends != nil && i+1 < len(backends.Content); i += 2 {
		backend := backends.Content[i+1]
		kind, known := c.rel.Storage.Backend(yamlnode.Text(backend, "type"))
		file := yamlnode.Text(backend, "db_path")
		if !known || !kind.NeedsDirectory || file == "" || c.isMade(directory(file)) {
			continue
		}
		if dir := path.Dir(file); !slices.Contains(c.dirs, dir) {
			c.dirs = append(c.dirs, dir)
		}
	}
}

// directory is where a file lies when no variable moves it.
func directory(file string) string {
	resolved, _ := resolveID(file)
	return path.Dir(resolved)
}

// isMade says whether a key-value backend makes a directory or one below it. What
// a provider makes comes too late: some stores are opened before the providers.
func (c *checker) isMade(dir string) bool {
	backends := yamlnode.At(c.root, "storage", "backends")
	for i := 1; i < len(backends.Content); i += 2 {
		backend := backends.Content[i]
		if yamlnode.Text(backend, "type") == release.KV+"_sqlite" && below(directory(yamlnode.Text(backend, "db_path")), dir) {
			return true
		}
	}
	return false
}

func below(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }
