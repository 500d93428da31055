package storage

import (
	"cmp"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// defaultNamespace is the namespace in which kubectl creates an object without a namespace.
const defaultNamespace = "default"

// Registry describes where the server stores the resources that it registered: the models, shields and vector stores
// from the configuration, from the server's providers and from its clients.
//
// A stack keeps the same registry for its whole lifetime. From 0.3 to 1.5, the server does not start when an entry in
// the configuration differs from the stored entry (server fact 20). Therefore, before each start of the server, the
// programs of package startup remove the configuration's entries from the registry (decision 0010).
type Registry struct {
	// Namespace is the namespace of the registry in a store that several stacks may use. It is the value of LLS_REGISTRY.
	// Empty means that the store is the stack's own SQLite file, or that the base reads the namespace from a variable.
	Namespace string
}

// registryNamespace sets a separate namespace for the registry of this stack in a store that other stacks may also use.
// A SQLite file needs no separate namespace, because only one stack uses it, and releases up to 0.8 ignore its
// namespace (server fact 24).
//
// The namespace of the registry contains the stack's name and Kubernetes namespace, but not its UID, so that a stack
// that is restored from a backup keeps its registry. In addition, the UID is unknown when a stack is rendered without a
// cluster. To use a different registry, for example that of another stack, set LLS_REGISTRY. The operator sets this
// variable in preflight pods, which have a separate registry. A user who restores a stack under a different name must
// set this variable, so that the stack keeps its registry.
func (s *storageWriter) registryNamespace() *Registry {
	metadata := yamlnode.Get(s.stores, "metadata")
	backend := yamlnode.Get(s.backends, yamlnode.Text(metadata, "backend"))
	if metadata == nil || backend == nil || yamlnode.Text(backend, "type") == release.KV+"_sqlite" {
		return &Registry{}
	}
	namespace := yamlnode.Text(metadata, "namespace")
	own := namespace + "/" + cmp.Or(s.Intent.Namespace, defaultNamespace) + "/" + s.Intent.Name
	registry := &Registry{}
	if !strings.Contains(namespace, "${") { // a reference cannot contain another reference
		registry.Namespace = own
		own = envref.WithDefault(names.EnvRegistry, own)
	}
	s.Write(draft.Under(metadata, "namespace"), yamlnode.String(own), draft.Origin{Note: "one registry per stack"})
	return registry
}
