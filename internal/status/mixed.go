package status

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isMixed reports whether a Ready pod matches the selector but does not have the Deployment's template. It also returns
// true if the newest ReplicaSet is not in the cache yet. A terminating pod is Ready until its server has stopped. The
// Deployment no longer counts such a pod, so a rollout may be complete while the pod still answers requests. A pod on a
// failed node is not Ready.
func isMixed(in WorkloadInput) bool {
	current := currentSet(in.Deployment, in.ReplicaSets)
	if behind(current, revisionOf(in.Deployment)) {
		return true
	}
	return slices.ContainsFunc(in.Pods, func(pod corev1.Pod) bool {
		return isTrue(&pod, corev1.PodReady) && (current == nil || !metav1.IsControlledBy(&pod, current))
	})
}

// behind reports whether the cache of ReplicaSets lags behind the cache of Deployments. In this case, the newest
// ReplicaSet is missing, and the pods of the previous ReplicaSet seem to be current.
func behind(current *appsv1.ReplicaSet, newest int64) bool {
	return newest != noRevision && (current == nil || revisionOf(current) < newest)
}
