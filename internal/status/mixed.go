package status

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// isMixed says that a Ready pod matches the selector and is not of the Deployment's
// template. A pod that is being ended is Ready until its server has stopped, and is
// not counted any more: the Deployment is complete, and that pod still answers. One
// that a dead node leaves behind is not Ready.
func isMixed(seen WorkloadInput) bool {
	current := currentSet(seen.Deployment, seen.ReplicaSets)
	if behind(current, revisionOf(seen.Deployment)) {
		return true
	}
	return slices.ContainsFunc(seen.Pods, func(pod corev1.Pod) bool {
		return isReady(pod) && (current == nil || !metav1.IsControlledBy(&pod, current))
	})
}

// behind says that the cache of ReplicaSets is behind that of Deployments: it does not
// have the newest one yet, and the pods of the one before seem to be current.
func behind(current *appsv1.ReplicaSet, newest int64) bool {
	return newest != noRevision && (current == nil || revisionOf(current) < newest)
}

// isReady says what decides whether a Service sends requests to the pod.
func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
