package render

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// podDisruptionBudget limits how many pods a drained node may take at once: as configured, else one at a time where
// there is always another to serve.
func podDisruptionBudget(in Input) (*policyv1ac.PodDisruptionBudgetApplyConfiguration, error) {
	configured := workload(&in.Stack.Spec).PodDisruptionBudget
	if configured == nil && leastReplicas(&in.Stack.Spec) < 2 {
		return nil, nil
	}
	spec := policyv1ac.PodDisruptionBudgetSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(names.Selector(in.Stack.Name)))
	switch {
	case configured == nil:
		spec.WithMaxUnavailable(intstr.FromInt32(1))
	case configured.MinAvailable != nil:
		spec.WithMinAvailable(*configured.MinAvailable)
	case configured.MaxUnavailable != nil:
		spec.WithMaxUnavailable(*configured.MaxUnavailable)
	}
	return policyv1ac.PodDisruptionBudget(names.PodDisruptionBudget(in.Stack.Name), in.Stack.Namespace).
		WithLabels(names.Labels(in.Stack.Name)).
		WithOwnerReferences(owner(in.Stack)...).
		WithSpec(spec), nil
}

// leastReplicas is how many pods the stack has at the least.
func leastReplicas(spec *v1alpha2.LlamaStackDistributionSpec) int32 {
	autoscaling := workload(spec).Autoscaling
	switch {
	case autoscaling == nil:
		return replicas(spec)
	case autoscaling.MinReplicas == nil:
		return 1
	default:
		return *autoscaling.MinReplicas
	}
}
