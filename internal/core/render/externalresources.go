package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
)

// copyLimits returns the limits of a container that copies a package or model files from its image.
func copyLimits() corev1.ResourceList { return bound("1", "256Mi") }

// installLimits returns the limits of the container that installs the packages.
func installLimits() corev1.ResourceList { return bound("1", "1Gi") }

func bound(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}
}

// leastRequests returns the requests of a container that copies files or installs packages, for resources that the
// server does not request.
func leastRequests() corev1.ResourceList { return bound("100m", "64Mi") }

// within returns the resources of a container that runs before the server. The container has limits and requests for
// CPU and memory, because a quota can require them. If the server has a request or a limit for a resource, the
// container requests no more of it than the server. In this case, the pod needs no more resources in total and keeps
// its quality of service, and a LimitRange that accepts the server accepts the container.
func within(
	server *corev1ac.ResourceRequirementsApplyConfiguration, limits corev1.ResourceList,
) *corev1ac.ResourceRequirementsApplyConfiguration {
	given := ptr.Deref(server.Limits, nil)
	asked := ptr.Deref(server.Requests, nil)
	requests := leastRequests()
	for name := range limits {
		limit, limited := given[name]
		limited = limited && limit.Sign() > 0 // a limit of 0 means no limit
		if limited {
			limits[name] = least(limits[name], limit)
		}
		if request, ok := asked[name]; ok {
			requests[name] = request
		} else if limited { // without a request, Kubernetes requests the limit
			requests[name] = limit
		}
		requests[name] = least(requests[name], limits[name])
	}
	return corev1ac.ResourceRequirements().WithLimits(limits).WithRequests(requests)
}

func least(a, b resource.Quantity) resource.Quantity {
	if b.Cmp(a) < 0 {
		return b
	}
	return a
}
