package stackconfig

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// directories finds the sqlite files whose directory the server does not make, so
// that the pod makes it first. A key-value backend makes its own; the relational
// one does not, and fails at the start or at the first request (SERVER.md 1.2). It
// comes up when the key-value state moves away from the directory the two shared.
func (c *checker) directories() {
	backends := c.allBackends()
	for _, b := range backends {
		file := yamlnode.Text(b.node, "db_path")
		if !b.kind.NeedsDirectory || file == "" || isMade(backends, directory(file)) {
			continue
		}
		if dir := path.Dir(file); !slices.Contains(c.dirs, dir) {
			c.dirs = append(c.dirs, dir)
		}
	}
}

// configured is a backend of the configuration, of a kind that the release knows.
type configured struct {
	node *yaml.Node
	kind release.Backend
	// early says that the server opens it before its providers.
	early bool
}

// allBackends are those of the section, or where there is none those that the
// stores are, without the stores of providers that no variable enables.
func (c *checker) allBackends() []configured {
	var found []configured
	add := func(family string, node *yaml.Node, early bool) {
		if kind, known := c.rel.Storage.Backend(family + yamlnode.Text(node, "type")); known {
			found = append(found, configured{node: node, kind: kind, early: early})
		}
	}
	if !c.rel.Storage.Inline {
		backends := yamlnode.At(c.root, "storage", "backends")
		for i := 1; backends != nil && i < len(backends.Content); i += 2 {
			add("", backends.Content[i], true)
		}
		return found
	}
	for _, family := range []string{release.KV, release.SQL} {
		for _, store := range c.inlineStores(family) {
			if store.provider == nil || store.provider.enabled {
				add(family+"_", yamlnode.Get(store.in, store.key), store.provider == nil)
			}
		}
	}
	return found
}

// directory is where a file lies when no variable moves it.
func directory(file string) string {
	resolved, _ := resolveID(file)
	return path.Dir(resolved)
}

// isMade says whether a key-value backend makes a directory or one below it. What
// a provider makes comes too late: some stores are opened before the providers.
func isMade(backends []configured, dir string) bool {
	return slices.ContainsFunc(backends, func(b configured) bool {
		return b.early && b.kind.Type == release.KV+"_sqlite" && below(directory(yamlnode.Text(b.node, "db_path")), dir)
	})
}

func below(dir, parent string) bool { return dir == parent || strings.HasPrefix(dir, parent+"/") }
