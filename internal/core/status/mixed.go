package status

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isMixed reports whether a pod that the operator may ask does not have the Deployment's template. It also returns true
// if the newest ReplicaSet is not in the cache yet. Other pods with the labels of the stack do not count, because the
// operator does not ask them.
func isMixed(in WorkloadInput) bool {
	current := currentSet(in.Deployment, in.ReplicaSets)
	switch {
	case in.Deployment == nil:
		return false
	case behind(current, revisionOf(in.Deployment)):
		return true
	}
	return slices.ContainsFunc(ServingPods(in.Deployment.UID, in.ReplicaSets, in.Pods), func(pod corev1.Pod) bool {
		return current == nil || !metav1.IsControlledBy(&pod, current)
	})
}

// behind reports whether the cache of ReplicaSets lags behind the cache of Deployments. In this case, the newest
// ReplicaSet is missing, and the pods of the previous ReplicaSet seem to be current.
func behind(current *appsv1.ReplicaSet, newest int64) bool {
	return newest != noRevision && (current == nil || revisionOf(current) < newest)
}
