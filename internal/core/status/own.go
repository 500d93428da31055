package status

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ServingPods returns the pods that are ready and belong to a Deployment: a ReplicaSet controls the pod, and the
// Deployment controls the ReplicaSet. Labels prove nothing, because anyone can set them, and names do not either.
func ServingPods(deployment types.UID, sets []appsv1.ReplicaSet, pods []corev1.Pod) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		return !IsServing(&pod) ||
			!slices.ContainsFunc(sets, func(set appsv1.ReplicaSet) bool {
				owner := metav1.GetControllerOfNoCopy(&set)
				return owner != nil && owner.UID == deployment && metav1.IsControlledBy(&pod, &set)
			})
	})
}

// IsServing reports whether a pod is running and ready, and is not being deleted.
func IsServing(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && IsReady(pod)
}

// IsReady reports whether a pod is ready.
func IsReady(pod *corev1.Pod) bool { return isTrue(pod, corev1.PodReady) }

// HasOwnAddress reports whether a pod has an address of its own. At the address of any other pod, the programs of its
// node answer too.
func HasOwnAddress(pod *corev1.Pod) bool {
	return !pod.Spec.HostNetwork && (pod.Status.PodIP == "" || pod.Status.PodIP != pod.Status.HostIP)
}
