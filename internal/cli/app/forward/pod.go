package forward

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Choose returns the pod to forward a port to: the newest pod that is ready and is not being deleted. It returns nil if
// there is none.
func Choose(pods []corev1.Pod) *corev1.Pod {
	ready := slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool { return !status.IsServing(&pod) })
	if len(ready) == 0 {
		return nil
	}
	slices.SortFunc(ready, func(a, b corev1.Pod) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &ready[0]
}
