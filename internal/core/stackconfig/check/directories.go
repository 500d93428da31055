package check

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// directories returns the directories of SQLite files, except for the directories that the server creates. The pod
// creates the returned directories before the server starts. A key-value backend creates its own directory. A
// relational backend does not, and it fails at startup or at the first request if the directory is missing (server fact
// 46). The directory is missing, for example, when the key-value data moves away from the directory that the two
// backends shared.
func (c *checker) directories() []string {
	var needed []string
	backends := c.allBackends()
	made, noted := madeBy(backends), make(map[string]bool)
	for _, b := range backends {
		file := yamlnode.Text(b.node, "db_path")
		if !b.kind.NeedsDirectory || file == "" || made.has(directory(file)) {
			continue
		}
		if dir := path.Dir(file); !noted[dir] {
			noted[dir] = true
			needed = append(needed, dir)
		}
	}
	return needed
}

// configured is a backend in the configuration. Its kind exists in the release.
type configured struct {
	node *yaml.Node
	kind release.Backend
	// early reports whether the server opens the backend before it starts the providers.
	early bool
}

// allBackends returns the backends in the `storage` section. In a release without that section, it returns the stores
// as backends, except the stores of providers that no variable enables.
func (c *checker) allBackends() []configured {
	var found []configured
	add := func(family string, node *yaml.Node, early bool) {
		if kind, known := c.Release.Storage.Backend(family + yamlnode.Text(node, "type")); known {
			found = append(found, configured{node: node, kind: kind, early: early})
		}
	}
	if !c.Release.Storage.Inline {
		backends := yamlnode.At(c.Root, "storage", "backends")
		for i := 1; backends != nil && i < len(backends.Content); i += 2 {
			add("", backends.Content[i], true)
		}
		return found
	}
	for _, family := range []string{release.KV, release.SQL} {
		for _, store := range storage.InlineStores(c.Draft, family) {
			if store.Provider == nil || store.Provider.Enabled {
				add(family+"_", yamlnode.Get(store.In, store.Key), store.Provider == nil)
			}
		}
	}
	return found
}

// directory returns the directory of a file. It replaces each reference in the file's path with the default or the
// alternative of the reference.
func directory(file string) string {
	resolved, _ := envref.Static(file)
	return path.Dir(resolved)
}

// directories is a sorted list of directories.
type directories []string

// madeBy returns the directories that key-value backends create. Directories that a provider creates do not count,
// because the server opens some stores before it starts the providers.
func madeBy(backends []configured) directories {
	var made directories
	for _, b := range backends {
		if b.early && b.kind.Type == release.KV+"_sqlite" {
			made = append(made, directory(yamlnode.Text(b.node, "db_path")))
		}
	}
	slices.Sort(made)
	return made
}

// has reports whether a directory, or one below it, is in the list.
func (d directories) has(dir string) bool {
	if _, found := slices.BinarySearch(d, dir); found {
		return true
	}
	below := dir + "/"
	at, _ := slices.BinarySearch(d, below)
	return at < len(d) && strings.HasPrefix(d[at], below)
}
