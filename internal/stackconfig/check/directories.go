package check

import (
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// directories finds the sqlite files whose directory the server does not make, so
// that the pod makes it first. A key-value backend makes its own; the relational
// one does not, and fails at the start or at the first request. It
// comes up when the key-value state moves away from the directory the two shared.
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

// directory is where a file lies when no variable moves it.
func directory(file string) string {
	resolved, _ := envref.Static(file)
	return path.Dir(resolved)
}

// directories is a sorted list.
type directories []string

// madeBy are the directories that key-value backends make. What a provider makes
// comes too late: some stores are opened before the providers.
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
