package forward

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Choose returns the pod to forward a port to: the newest pod that is ready and is not being deleted. It returns nil if
// there is none.
func Choose(pods []corev1.Pod) *corev1.Pod {
	ready := slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool { return !Serves(&pod) })
	if len(ready) == 0 {
		return nil
	}
	slices.SortFunc(ready, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &ready[0]
}

// Serves reports whether a pod is running and ready, and is not being deleted.
func Serves(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning &&
		slices.ContainsFunc(pod.Status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue
		})
}
