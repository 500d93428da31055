package render

import (
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// podDisruptionBudget returns a budget for the number of pods that a node drain may stop at the same time. Without a
// configured budget, this number is one. In this case, the function returns nil unless the number of replicas in the
// spec or the minimum of the autoscaler is at least two.
func podDisruptionBudget(in Input) (*policyv1ac.PodDisruptionBudgetApplyConfiguration, error) {
	configured := workload(&in.Stack.Spec).PodDisruptionBudget
	if configured == nil && max(Replicas(&in.Stack.Spec), LeastAutoscaled(in.Stack)) < 2 {
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
	return owned(in, policyv1ac.PodDisruptionBudget, names.PodDisruptionBudget(in.Stack.Name)).
		WithSpec(spec), nil
}
