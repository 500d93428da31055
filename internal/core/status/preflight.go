package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// PreflightState is the state of a pod in which the operator tests a change.
type PreflightState string

const (
	// PreflightGoesOn means that there is no result yet.
	PreflightGoesOn PreflightState = "GoesOn"
	// PreflightReady means that every container is ready.
	PreflightReady PreflightState = "Ready"
	// PreflightHindered means that the kubelet could not start a container and retries. A retry may succeed.
	PreflightHindered PreflightState = "Hindered"
	// PreflightCrashed means that a container ended, or was not ready at the deadline. Another attempt would fail too.
	PreflightCrashed PreflightState = "Crashed"
	// PreflightLost means that the pod ended for a reason unrelated to the change, so another pod may succeed.
	PreflightLost PreflightState = "Lost"
	// PreflightUnplaced means that no node has room for the pod.
	PreflightUnplaced PreflightState = "Unplaced"
)

const (
	// preflightPlacing bounds the time until the scheduler has a result for the pod.
	preflightPlacing = time.Minute
	// preflightSilence bounds the time that the kubelet takes to end the pod after the deadline.
	preflightSilence = 2 * time.Minute
)

// Preflight is the result for a pod in which the operator tests a change.
type Preflight struct {
	State PreflightState
	// Message is the reason why the pod is not ready. It is empty if there is no failure. The only part of the server's
	// output that the message can contain is the name of an exception.
	Message string
	// Until is the time at which the result may change without an event. Zero means never.
	Until time.Time
}

// JudgePreflight returns the result for a pod that runs once, with the restart policy Never. deadline is the pod's
// activeDeadlineSeconds. external lists the external providers that the pod installs.
func JudgePreflight(pod *corev1.Pod, external []ExternalProvider, deadline time.Duration, now time.Time) Preflight {
	switch {
	case isTrue(pod, corev1.ContainersReady):
		return Preflight{State: PreflightReady}
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == deadlineReason:
		return late(pod, external, deadline, now)
	case tooMuch(pod) != "":
		return Preflight{State: PreflightCrashed, Message: tooMuch(pod)}
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "": // evicted, or its node was shut down
		return Preflight{State: PreflightLost, Message: podTrouble(pod, external, now, false).message}
	}
	if ended := firstEnd(pod, external, now); ended != nil {
		return *ended
	}
	end := StartOf(pod).Add(deadline + preflightSilence)
	if now.After(end) {
		return late(pod, external, deadline, now)
	}
	if pod.Spec.NodeName == "" {
		return unplaced(pod, now)
	}
	verdict := Preflight{State: PreflightGoesOn, Until: end}
	if found := podTrouble(pod, external, now, false); found.fatal {
		verdict.State, verdict.Message = PreflightHindered, found.message
	}
	return verdict
}

// StartOf returns the time at which a kubelet accepted a pod. The pod's deadline is relative to this time. If no
// kubelet has accepted the pod yet, StartOf returns the creation time.
func StartOf(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}

// deadlineReason is the reason that the kubelet reports when it fails a pod that was active for too long.
const deadlineReason = "DeadlineExceeded"

// isTrue reports whether a condition of the pod is True.
func isTrue(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

// lostTrack lists the reasons in the status of a container whose result is unknown because its node was restarted.
var lostTrack = []string{"ContainerStatusUnknown", "Unknown"}

// firstEnd returns the result for the first container that ended. It ignores successful init containers.
func firstEnd(pod *corev1.Pod, external []ExternalProvider, now time.Time) *Preflight {
	initial := len(pod.Status.InitContainerStatuses)
	for i, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		ended := container.State.Terminated
		switch {
		case ended == nil, ended.ExitCode == 0 && i < initial:
		case slices.Contains(lostTrack, ended.Reason):
			return &Preflight{State: PreflightLost, Message: fmt.Sprintf("the result of pod %q is unknown, possibly because its node was restarted", pod.Name)}
		default:
			logs := fmt.Sprintf("see kubectl logs %s -c %s", pod.Name, container.Name)
			message := cmp.Or(externalTrouble(pod, container.Name, external, now), crashedModule(pod, &container, external))
			return &Preflight{State: PreflightCrashed, Message: cmp.Or(message, crashed(container.Name, ended, logs))}
		}
	}
	return nil
}

// late returns the result for a pod that is past its deadline. The message names a container that started but was not
// ready in time. If no container has started, the message is the reason why the pod did not start.
func late(pod *corev1.Pod, external []ExternalProvider, deadline time.Duration, now time.Time) Preflight {
	for _, container := range pod.Status.ContainerStatuses {
		if ended := container.State.Terminated; container.State.Running != nil || ended != nil && !ended.StartedAt.IsZero() {
			return Preflight{State: PreflightCrashed, Message: fmt.Sprintf(
				"container %q was not ready after %s; see kubectl logs %s -c %s", container.Name, minutes(deadline), pod.Name, container.Name)}
		}
	}
	message := fmt.Sprintf("pod %q did not start within %s; see kubectl describe pod %s", pod.Name, minutes(deadline), pod.Name)
	if found := podTrouble(pod, external, now, false); found.fatal {
		message = found.message
	}
	return Preflight{State: PreflightLost, Message: message}
}

func minutes(d time.Duration) string { return fmt.Sprintf("%d minutes", int(d.Minutes())) }

// unplaced returns the result for a pod that has no node. If no node can take the pod, there is no need to wait.
func unplaced(pod *corev1.Pod, now time.Time) Preflight {
	since, full := pod.CreationTimestamp.Time, false
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && !condition.LastTransitionTime.IsZero() {
			since = condition.LastTransitionTime.Time
		}
		full = full || condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonUnschedulable
	}
	verdict := Preflight{
		State: PreflightGoesOn, Until: since.Add(preflightPlacing),
		Message: podTrouble(pod, nil, now, false).message,
	}
	if !full && now.Before(verdict.Until) {
		return verdict
	}
	verdict.State, verdict.Until = PreflightUnplaced, time.Time{}
	if verdict.Message == "" {
		verdict.Message = fmt.Sprintf("the scheduler did not assign pod %q to a node; see kubectl describe pod %s",
			pod.Name, pod.Name)
	}
	return verdict
}
