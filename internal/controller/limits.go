package controller

import (
	corev1 "k8s.io/api/core/v1"
)

// limited are the resources in which the operator before this one limited the pods that run, because the stack has workers:
// to what they request. Once the stack was rendered here its record has them.
//
// The quotas of the namespace are not read, which takes a right and a watch: pods that run were let in with these limits, and
// are let in with them again, whatever a quota or a LimitRange demands.
func limited(stack *stack, workload *workload) []corev1.ResourceName {
	if workload.deployment == nil || workload.running.Template != "" {
		return workload.running.Limited
	}
	server := serverContainer(stack, workload.deployment)
	if server == nil {
		return nil
	}
	var found []corev1.ResourceName
	resources := &server.Resources
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, ok := resources.Limits[name]
		if requested := resources.Requests[name]; ok && limit.Cmp(requested) == 0 {
			found = append(found, name)
		}
	}
	return found
}
