package stackconfig

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// directories warns when nobody makes the directory of a sqlite file. A key-value
// backend makes its own and the files provider makes its own; the relational one
// does not, and fails at the first request (SERVER.md 1.2). It comes up when the
// key-value state moves away from the directory the two shared.
func (c *checker) directories() {
	store := c.in.Storage.KV
	if store == nil {
		return
	}
	backends := yamlnode.At(c.root, "storage", "backends")
	for i := 0; backends != nil && i+1 < len(backends.Content); i += 2 {
		backend := backends.Content[i+1]
		file := yamlnode.Text(backend, "db_path")
		if yamlnode.Text(backend, "type") != release.SQL+"_sqlite" || file == "" || c.isMade(backends, directory(file)) {
			continue
		}
		c.warn(Finding{
			Path: store.Path.String(), ConfigPath: backendsPath + backends.Content[i].Value,
			Message: "nothing makes the directory of " + file + " any more, and the server fails at the first request unless it exists; " +
				"use PostgreSQL for storage.sql too",
		})
	}
}

// directory is where a file lies when no variable moves it.
func directory(file string) string {
	resolved, _ := resolveID(file)
	return path.Dir(resolved)
}

// isMade says whether something at start makes a directory or one below it.
func (c *checker) isMade(backends *yaml.Node, dir string) bool {
	for i := 1; i < len(backends.Content); i += 2 {
		backend := backends.Content[i]
		if yamlnode.Text(backend, "type") == release.KV+"_sqlite" && below(directory(yamlnode.Text(backend, "db_path")), dir) {
			return true
		}
	}
	for _, e := range c.index.entries {
		made, _ := resolveID(yamlnode.Text(yamlnode.Get(e.node, "config"), "storage_dir"))
		if e.enabled && made != "" && below(made, dir) {
			return true
		}
	}
	return false
}

func below(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }
