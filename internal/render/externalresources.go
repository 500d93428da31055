package render

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"
)

// copyLimits are the most that a container may use which copies a package out of its image.
func copyLimits() corev1.ResourceList { return bound("1", "256Mi") }

// installLimits are the most that the container may use which installs the packages.
func installLimits() corev1.ResourceList { return bound("1", "1Gi") }

func bound(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory),
	}
}

// leastRequests are those of a container beside a server that asks for no such resource.
func leastRequests() corev1.ResourceList { return bound("100m", "64Mi") }

// within are the resources of a container that runs before the server. It has a limit and a request of both resources,
// since a quota may demand them, and asks for no more than the server does: the pod needs no more because of it, keeps its
// quality of service, and a LimitRange that lets the server in lets it in.
func within(
	server *corev1ac.ResourceRequirementsApplyConfiguration, limits corev1.ResourceList,
) *corev1ac.ResourceRequirementsApplyConfiguration {
	given := ptr.Deref(server.Limits, nil)
	asked := ptr.Deref(server.Requests, nil)
	requests := leastRequests()
	for name := range limits {
		limit, limited := given[name]
		limited = limited && limit.Sign() > 0 // a limit of 0 is none
		if limited {
			limits[name] = least(limits[name], limit)
		}
		if request, ok := asked[name]; ok {
			requests[name] = request
		} else if limited { // what is not requested is requested up to its limit
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
