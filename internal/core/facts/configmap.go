package facts

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ConfigMaps returns all references of a stack to ConfigMaps, with the ConfigMap of the platform. If the running
// configuration is from a ConfigMap in another namespace, and the stack is no longer allowed to read this ConfigMap, a
// ConfigMap in the stack's own namespace does not replace it.
func (r *Running) ConfigMaps(stack *v1alpha2.LlamaStackDistribution) []intent.ConfigMapUse {
	uses := slices.Concat(intent.ConfigMaps(stack), intent.TrustedCA(stack))
	for i := range uses {
		uses[i].NoOther = slices.Contains(r.Record.Elsewhere, uses[i].ID())
	}
	return uses
}

// Candidates returns the references to the ConfigMaps that a stack may use for a reference, in order. The stack uses
// the first one that exists and that it may read. For a ConfigMap in another namespace, the second one is the ConfigMap
// with the same name in the stack's own namespace.
func Candidates(use intent.ConfigMapUse) []intent.ConfigMapUse {
	if use.Namespace == "" || use.NoOther || use.Optional {
		return []intent.ConfigMapUse{use}
	}
	return []intent.ConfigMapUse{use, use.Here()}
}

// MayRead reports whether a stack in a namespace may read the ConfigMap that a reference leads to, which has the given
// annotations. The owner of a ConfigMap in another namespace must allow it.
func MayRead(use intent.ConfigMapUse, annotations map[string]string, namespace string) bool {
	return use.Namespace == "" || names.AllowsNamespace(annotations, namespace)
}
