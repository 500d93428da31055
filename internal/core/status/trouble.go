package status

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These are the kubelet's reasons for a container that it cannot create, and for a container whose process never
// started.
var (
	notCreated = []string{"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
	notStarted = []string{"StartError", "ContainerCannotRun"}
)

// Trouble is the kind of a pod's problem. It determines where a user finds the reason.
type Trouble string

const (
	// Crashed means that a container ended. It may have started again.
	Crashed Trouble = "crashed"
	// NotStarted means that a container cannot be created, for example because its image cannot be pulled.
	NotStarted Trouble = "not started"
	// NotScheduled means that the pod cannot be scheduled onto a node.
	NotScheduled Trouble = "not scheduled"
	// NotReady means that the pod is running but not ready.
	NotReady Trouble = "not ready"
)

// trouble is the reason why pods do not become ready.
type trouble struct {
	// fatal reports whether the problem is unlikely to end without a change.
	fatal   bool
	message string
	kind    Trouble
	// container is the container with the problem, if there is one.
	container string
}

// PodTrouble returns the problem of a pod, and the container with the problem. They are empty for a pod without a
// problem, and for a pod that another pod replaces.
func PodTrouble(pod *corev1.Pod, now time.Time) (kind Trouble, container, message string) {
	found := podTrouble(pod, nil, now, false)
	switch {
	case pod.DeletionTimestamp != nil, IsReady(pod):
		return "", "", ""
	case found.message == "" && pod.Status.Phase == corev1.PodRunning:
		return NotReady, "", ""
	default:
		return found.kind, found.container, found.message
	}
}

// findTrouble returns the reason why pods do not become ready. It checks the ReplicaSet and the Deployment first (pods
// that could not be created), and then the pods of the current revision. It sorts the pods by name, so that the same
// cluster state results in the same message. overdue reports whether the rollout is past its deadline. If so, a slow
// pod counts as trouble.
func findTrouble(in WorkloadInput, current *appsv1.ReplicaSet, overdue bool) trouble {
	if refused := refusal(in.Deployment, current); refused != "" {
		if ofResources.MatchString(refused) {
			refused += "; set spec.workload.resources"
		}
		return trouble{fatal: true, message: "pods cannot be created: " + refused}
	}
	ours := slices.DeleteFunc(slices.Clone(in.Pods), func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || current != nil && !metav1.IsControlledBy(&pod, current)
	})
	slices.SortFunc(ours, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	var first trouble
	for i := range ours {
		found := podTrouble(&ours[i], in.External, in.Now, overdue)
		if found.fatal {
			return found
		}
		if first.message == "" {
			first = found
		}
	}
	// A pod that uses a claim without a volume cannot be scheduled, so the claim is reported instead of the pod.
	if len(in.Claims) > 0 {
		return trouble{message: fmt.Sprintf("PersistentVolumeClaim %q has no volume: %s", in.Claims[0].Name, takenOver(in.Claims[0].Message))}
	}
	return first
}

// earlierTrouble returns the reason why a pod of an earlier revision no longer serves requests while newer pods do. An
// earlier server that restarts may fail because of the resources that a newer server registered. The problem ends with
// the pod, so it is never fatal.
func earlierTrouble(in WorkloadInput, current *appsv1.ReplicaSet) trouble {
	if current == nil {
		return trouble{}
	}
	var name, message string
	for i := range in.Pods {
		pod := &in.Pods[i]
		if pod.DeletionTimestamp != nil || metav1.IsControlledBy(pod, current) || name != "" && pod.Name > name {
			continue
		}
		if found := podTrouble(pod, in.External, in.Now, false); found.fatal {
			name, message = pod.Name, "pod "+strconv.Quote(pod.Name)+" of an earlier revision does not serve requests: "+found.message
		}
	}
	return trouble{message: message}
}

// ofResources matches the messages of a quota and of a LimitRange about the requests and the limits of a container.
var ofResources = regexp.MustCompile(`resources\.(requests|limits)|usage per (Container|Pod)|(requests|limits)\.(cpu|memory)|\b(cpu|memory)=`)

// refusal returns the error with which the API server rejects the creation of pods: an exceeded quota, an admission
// rule or a missing ServiceAccount. The error names the quota, the rule or the ServiceAccount. The result is empty if
// pods can be created.
func refusal(deployment *appsv1.Deployment, current *appsv1.ReplicaSet) string {
	if current != nil {
		for _, condition := range current.Status.Conditions {
			if condition.Type == appsv1.ReplicaSetReplicaFailure && condition.Status == corev1.ConditionTrue {
				return condition.Message
			}
		}
	}
	if failed := findDeploymentCondition(deployment, appsv1.DeploymentReplicaFailure); failed != nil &&
		failed.Status == corev1.ConditionTrue {
		return failed.Message
	}
	return ""
}

func podTrouble(pod *corev1.Pod, external []ExternalProvider, now time.Time, overdue bool) trouble {
	if message := tooMuch(pod); message != "" {
		return trouble{fatal: true, message: message}
	}
	if pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "" { // another pod replaces it
		return trouble{message: fmt.Sprintf("pod %q ended (%s): %s", pod.Name, pod.Status.Reason,
			takenOver(pod.Status.Message))}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			message := fmt.Sprintf("pod %q cannot be scheduled: %s", pod.Name, takenOver(condition.Message))
			return trouble{kind: NotScheduled, message: message}
		}
	}
	initial := len(pod.Status.InitContainerStatuses)
	for i, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if found := containerTrouble(pod, &container, i < initial, external, now); found.message != "" {
			found.container = container.Name
			return found
		}
	}
	if overdue {
		return slow(pod)
	}
	return trouble{}
}

// containerTrouble returns the problem of a container that is not ready. It prefers the last crash over the current
// state. A container that crashes repeatedly alternates between waiting, running and ended, and a message about the
// current state would cause a status write at each change. It is not a problem if an init container ends successfully.
// A server that ends has failed, even with exit code 0, because a server that cannot start also ends with 0 (server
// fact 32).
func containerTrouble(
	pod *corev1.Pod, container *corev1.ContainerStatus, mayEnd bool, external []ExternalProvider, now time.Time,
) trouble {
	if container.Ready {
		return trouble{}
	}
	if message := externalTrouble(pod, container.Name, external, now); message != "" {
		return trouble{kind: Crashed, fatal: true, message: message}
	}
	ended := lastEnd(container, mayEnd)
	if ended != nil && ended.Reason == "Unknown" && ended.ExitCode == exitUnknown { // the kubelet has no log of it
		return trouble{kind: NotReady, message: fmt.Sprintf("container %q is starting again after its node stopped", container.Name)}
	}
	if ended != nil {
		message := crashedModule(pod, container, external)
		return trouble{kind: Crashed, fatal: true, message: cmp.Or(message, crash(pod.Name, container.Name, ended))}
	}
	waiting := container.State.Waiting
	switch {
	case waiting == nil:
		return trouble{}
	case slices.Contains(notPulled, waiting.Reason):
		return trouble{kind: NotStarted, fatal: true, message: pullFailure(pod.Name, container)}
	case slices.Contains(notCreated, waiting.Reason):
		return trouble{kind: NotStarted, fatal: true, message: notCreatedMessage(container)}
	default:
		return trouble{}
	}
}

// notCreatedMessage returns the kubelet's explanation of why it cannot create a waiting container.
func notCreatedMessage(container *corev1.ContainerStatus) string {
	waiting := container.State.Waiting
	return fmt.Sprintf("container %q cannot be started (%s): %s",
		container.Name, waiting.Reason, takenOver(waiting.Message))
}

// slow returns a message about the first container that is running or waiting and is not ready. If the pod is not
// initialized, the message about a running init container does not mention a health check, because most init containers
// have none. In an initialized pod, such a container is a sidecar.
func slow(pod *corev1.Pod) trouble {
	initial := len(pod.Status.InitContainerStatuses)
	for i, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch waiting := container.State.Waiting; {
		case container.Ready:
		case container.State.Running != nil && i < initial && !isTrue(pod, corev1.PodInitialized):
			return trouble{message: fmt.Sprintf("init container %q is still running, and the server is waiting for it; "+
				"see kubectl logs %s -c %s", container.Name, pod.Name, container.Name)}
		case container.State.Running != nil:
			return trouble{message: fmt.Sprintf(
				"container %q is running, but its health check does not pass; see kubectl logs %s -c %s", container.Name, pod.Name, container.Name)}
		case waiting != nil:
			return trouble{message: fmt.Sprintf(
				"container %q is waiting (%s); see kubectl describe pod %s", container.Name, waiting.Reason, pod.Name)}
		}
	}
	return trouble{}
}
