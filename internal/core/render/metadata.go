package render

import (
	"encoding/json"
	"fmt"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// kind is the kind of the children's owner.
const kind = "LlamaStackDistribution"

// owner returns the owner reference with which Kubernetes deletes children together with their stack. It returns no
// reference for a stack that is not an object in a cluster and therefore has no UID.
func owner(stack *v1alpha2.LlamaStackDistribution) []*metav1ac.OwnerReferenceApplyConfiguration {
	if stack.UID == "" {
		return nil
	}
	return []*metav1ac.OwnerReferenceApplyConfiguration{
		metav1ac.OwnerReference().
			WithAPIVersion(v1alpha2.GroupVersion.String()).
			WithKind(kind).
			WithName(stack.Name).
			WithUID(stack.UID).
			WithController(true).
			WithBlockOwnerDeletion(true),
	}
}

// owned builds a child with the usual labels and with the stack as its owner.
func owned[T interface {
	WithLabels(labels map[string]string) T
	WithOwnerReferences(references ...*metav1ac.OwnerReferenceApplyConfiguration) T
}](in Input, build func(name, namespace string) T, name string) T {
	return build(name, in.Stack.Namespace).
		WithLabels(names.Labels(in.Stack.Name)).
		WithOwnerReferences(owner(in.Stack)...)
}

// applyConfiguration converts values of a Kubernetes type to apply configurations of the same type. Both have the same
// JSON form.
func applyConfiguration[T, F any](path string, from F) (T, error) {
	var to T
	data, err := json.Marshal(from)
	if err != nil {
		return to, fmt.Errorf("encode %s: %w", path, err)
	}
	if err := json.Unmarshal(data, &to); err != nil {
		return to, fmt.Errorf("decode %s: %w", path, err)
	}
	return to, nil
}
