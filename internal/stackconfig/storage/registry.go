package storage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// defaultNamespace is where kubectl creates an object that names no namespace.
const defaultNamespace = "default"

// Registry describes where the server keeps what it registered: the models, shields and
// vector stores of the configuration, of its providers and of its clients.
//
// A stack has one registry for its whole life. The server refuses to start when an entry
// of the configuration differs from the kept one (0.3 to 1.5), so the pod takes the
// configuration's entries out of the registry before each start (package startup).
type Registry struct {
	// Earlier is the place where operators before this one kept the registry of today's
	// resources: a sqlite file, in the notation of the configuration, or a namespace.
	Earlier string
	// Namespace is the registry's in a store that several stacks may use, as LLS_REGISTRY takes it. Empty: the store is a
	// sqlite file of the stack's own, or the base decides on the namespace by a variable.
	Namespace string
}

// registryNamespace gives the stack a registry of its own in a store that other stacks
// may use too, and notes where operators before this one kept the registry. A sqlite file
// is the stack's own already, and the releases up to 0.8 ignore its namespace.
//
// The namespace carries the stack's name and namespace and not its UID: a stack that is
// restored from a backup finds its registry again, and the offline renderer knows no UID.
// A preflight pod, and a user who restores a stack under another name, set LLS_REGISTRY.
func (s *storageWriter) registryNamespace() *Registry {
	metadata := yamlnode.Get(s.stores, "metadata")
	backend := yamlnode.Get(s.backends, yamlnode.Text(metadata, "backend"))
	if metadata == nil || backend == nil {
		return &Registry{}
	}
	namespace := yamlnode.Text(metadata, "namespace")
	earlier := "registry-" + digest(yamlnode.Get(s.Root, release.RegisteredResources))
	if yamlnode.Text(backend, "type") == release.KV+"_sqlite" {
		return &Registry{Earlier: siblingFile(s.Draft, yamlnode.Text(backend, "db_path"), earlier+".db")}
	}
	own := namespace + "/" + cmp.Or(s.Intent.Namespace, defaultNamespace) + "/" + s.Intent.Name
	registry := &Registry{Earlier: earlier}
	if !strings.Contains(namespace, "${") { // a reference cannot stand within another
		registry.Namespace = own
		own = envref.WithDefault(names.EnvRegistry, own)
	}
	s.Write(draft.Under(metadata, "namespace"), yamlnode.String(own), draft.Origin{Note: "one registry per stack"})
	return registry
}

// siblingFile returns a file in the directory of another one. Where a reference hides the
// directory, it is where the server's own configurations have it.
func siblingFile(d *draft.Draft, path, name string) string {
	slash := strings.LastIndexByte(path, '/')
	if brace := strings.LastIndexByte(path, '}'); slash < 0 || slash < brace {
		return dataFile(d, name)
	}
	return path[:slash+1] + name
}

// digest returns the beginning of a hash over the values of a tree, however they are
// spelt.
func digest(node *yaml.Node) string {
	h := sha256.New()
	hashNode(h, node)
	return hex.EncodeToString(h.Sum(nil)[:4])
}

func hashNode(h hash.Hash, node *yaml.Node) {
	if node == nil {
		return
	}
	_, _ = h.Write([]byte{byte(node.Kind)}) //nolint:gosec // the kinds are the bits 1 to 16
	_, _ = h.Write([]byte(node.ShortTag()))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(node.Value))
	_, _ = h.Write([]byte{0})
	for _, item := range node.Content {
		hashNode(h, item)
	}
	_, _ = h.Write([]byte{0xff})
}
