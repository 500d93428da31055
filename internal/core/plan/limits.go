package plan

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// withLimits returns the stack with the limits that an earlier operator set in the running pods because the spec sets
// workers. These limits equal the requests. A quota in the namespace may reject pods without limits. The user's own
// limits take precedence.
func withLimits(in Input) *v1alpha2.LlamaStackDistribution {
	kept := limited(in)
	if len(kept) == 0 {
		return in.Object
	}
	stack := in.Object.DeepCopy()
	if stack.Spec.Workload.Resources == nil {
		stack.Spec.Workload.Resources = &corev1.ResourceRequirements{}
	}
	resources, usual := stack.Spec.Workload.Resources, render.UsualRequests(&stack.Spec)
	if resources.Limits == nil {
		resources.Limits = corev1.ResourceList{}
	}
	for _, name := range kept {
		limit, ok := resources.Requests[name]
		if !ok {
			limit = usual[name]
		}
		resources.Limits[name] = limit
	}
	return stack
}

// limited returns the resources that have no limit in the spec but remain limited in a v1alpha1 stack with workers.
func limited(in Input) []corev1.ResourceName {
	workload := in.Object.Spec.Workload
	if !profile.Of(in.Object.Annotations).KeepsLimits || workload == nil || workload.Workers == nil {
		return nil
	}
	var found []corev1.ResourceName
	for _, name := range in.Running.Limited(names.ServerContainer(in.Object.Annotations)) {
		if workload.Resources == nil {
			found = append(found, name)
		} else if _, given := workload.Resources.Limits[name]; !given {
			found = append(found, name)
		}
	}
	return found
}
