package controller

import (
	corev1 "k8s.io/api/core/v1"
)

// limited returns the resources whose limits equal their requests in the running pods. The previous operator set these
// limits because the stack has workers. After this operator has rendered the stack, the record in the annotations of
// the Deployment contains these resources, and limited reads them from there.
//
// limited does not read the quotas in the namespace, because this would require a permission and a watch. Quotas and
// LimitRanges admitted the running pods with these limits, so they also admit new pods with the same limits.
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
