package status

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trouble is why pods do not become ready.
type trouble struct {
	// fatal: waiting alone is unlikely to help.
	fatal   bool
	message string
}

// findTrouble asks the Deployment first (pods that could not even be made),
// then the pods of the current revision in the order of their names, so that
// the same cluster state gives the same sentence.
func findTrouble(deployment *appsv1.Deployment, current *appsv1.ReplicaSet, pods []corev1.Pod) trouble {
	if failed := findDeploymentCondition(deployment, appsv1.DeploymentReplicaFailure); failed != nil && failed.Status == corev1.ConditionTrue {
		return trouble{fatal: true, message: "pods cannot be created: " + failed.Message}
	}
	ours := slices.DeleteFunc(slices.Clone(pods), func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || current != nil && !metav1.IsControlledBy(&pod, current)
	})
	slices.SortFunc(ours, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	var first trouble
	for i := range ours {
		found := podTrouble(&ours[i])
		if found.fatal {
			return found
		}
		if first.message == "" {
			first = found
		}
	}
	return first
}

func podTrouble(pod *corev1.Pod) trouble {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return trouble{message: fmt.Sprintf("pod %q cannot be scheduled: %s", pod.Name, condition.Message)}
		}
	}
	for _, containers := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range containers {
			if found := containerTrouble(pod, &containers[i]); found.message != "" {
				return found
			}
		}
	}
	return trouble{}
}

// containerTrouble prefers the last crash over the present state: a container
// that crashes again and again waits, runs and ends in turn, and a message that
// followed each would be a status write each.
func containerTrouble(pod *corev1.Pod, container *corev1.ContainerStatus) trouble {
	if container.Ready {
		return trouble{}
	}
	for _, ended := range []*corev1.ContainerStateTerminated{
		container.LastTerminationState.Terminated, container.State.Terminated,
	} {
		if ended != nil && ended.ExitCode != 0 {
			return crash(pod, container.Name, ended)
		}
	}
	waiting := container.State.Waiting
	if waiting == nil {
		return trouble{}
	}
	switch waiting.Reason {
	case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError":
		return trouble{fatal: true, message: fmt.Sprintf(
			"image %q of container %q cannot be pulled; see kubectl describe pod %s", container.Image, container.Name, pod.Name)}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
		return trouble{fatal: true, message: fmt.Sprintf(
			"container %q cannot be started (%s): %s", container.Name, waiting.Reason, waiting.Message)}
	default:
		return trouble{}
	}
}

func crash(pod *corev1.Pod, container string, ended *corev1.ContainerStateTerminated) trouble {
	if ended.Reason == "OOMKilled" {
		return trouble{fatal: true, message: fmt.Sprintf(
			"container %q ran out of memory; raise spec.workload.resources.limits.memory", container)}
	}
	return trouble{fatal: true, message: fmt.Sprintf(
		"container %q crashed with exit code %d; see kubectl logs %s -c %s --previous", container, ended.ExitCode, pod.Name, container)}
}
