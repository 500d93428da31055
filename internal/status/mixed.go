package status

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isMixed reports whether a Ready pod matches the selector and is not of the Deployment's
// template. A pod that is being ended is Ready until its server has stopped, and is
// not counted any more: the Deployment is complete, and that pod still answers. One
// that a dead node leaves behind is not Ready.
func isMixed(in WorkloadInput) bool {
	current := currentSet(in.Deployment, in.ReplicaSets)
	if behind(current, revisionOf(in.Deployment)) {
		return true
	}
	return slices.ContainsFunc(in.Pods, func(pod corev1.Pod) bool {
		return isTrue(&pod, corev1.PodReady) && (current == nil || !metav1.IsControlledBy(&pod, current))
	})
}

// behind reports whether the cache of ReplicaSets is behind that of Deployments: it does not
// have the newest one yet, and the pods of the one before seem to be current.
func behind(current *appsv1.ReplicaSet, newest int64) bool {
	return newest != noRevision && (current == nil || revisionOf(current) < newest)
}
