package status

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ServingPods returns the pods that are ready and belong to a Deployment: a ReplicaSet controls the pod, and the
// Deployment controls the ReplicaSet. Labels prove nothing, because anyone can set them, and names do not either.
func ServingPods(deployment types.UID, sets []appsv1.ReplicaSet, pods []corev1.Pod) []corev1.Pod {
	own := map[types.UID]bool{}
	for i := range sets {
		if owner := metav1.GetControllerOfNoCopy(&sets[i]); owner != nil && owner.UID == deployment {
			own[sets[i].UID] = true
		}
	}
	var serving []corev1.Pod
	for i := range pods {
		if owner := metav1.GetControllerOfNoCopy(&pods[i]); owner != nil && own[owner.UID] && IsServing(&pods[i]) {
			serving = append(serving, pods[i])
		}
	}
	return serving
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
