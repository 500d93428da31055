package render

import (
	"encoding/json"
	"fmt"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// kind is the kind of the object that owns the children.
const kind = "LlamaStackDistribution"

// owner is the reference that lets children go with their stack. A stack that is no object of a cluster (no UID) owns
// nothing.
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

// owned makes a child with the labels and the owner that every child has.
func owned[T interface {
	WithLabels(labels map[string]string) T
	WithOwnerReferences(references ...*metav1ac.OwnerReferenceApplyConfiguration) T
}](in Input, build func(name, namespace string) T, name string) T {
	return build(name, in.Stack.Namespace).
		WithLabels(names.Labels(in.Stack.Name)).
		WithOwnerReferences(owner(in.Stack)...)
}

// applyConfiguration turns values of a Kubernetes type into apply configurations of the same type. Both have one JSON
// form.
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
