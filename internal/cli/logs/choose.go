package logs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Options select pods and a container.
type Options struct {
	// Container is the name of a container or an init container. Empty selects the server's container, or the init
	// container that prevents the server from starting.
	Container string
	// Server is the name of the server's container.
	Server string
	// Previous selects the container that ran before the last restart.
	Previous bool
	// All selects every pod.
	All bool
}

// Target is a container of a pod.
type Target struct {
	Pod, Container string
}

// Choose returns the containers whose logs a command shows, at most one for each pod. It omits a pod without the
// container and, with Previous, a pod whose container has not restarted. Without All, it selects one pod: the newest
// pod that is not ready, or, if every pod is ready, the newest pod. A pod that is being deleted is the last choice.
func Choose(pods []corev1.Pod, options Options) ([]Target, error) {
	pods = slices.Clone(pods)
	if len(pods) == 0 {
		return nil, errors.New("the stack has no pods; to find the reason, run kubectl llamastack status")
	}
	slices.SortFunc(pods, func(a, b corev1.Pod) int { // pods with the same rank by age, the newest first
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name))
	})
	var targets []Target
	var missing error
	for i := range pods {
		container, err := containerOf(&pods[i], options)
		missing = cmp.Or(missing, err)
		if err == nil && (!options.Previous || restarted(&pods[i], container)) {
			targets = append(targets, Target{Pod: pods[i].Name, Container: container})
		}
	}
	switch {
	case len(targets) == 0 && missing != nil:
		return nil, missing
	case len(targets) == 0:
		return nil, errors.New("no selected container has restarted, so there are no previous logs; " +
			"remove --previous, or set --container to another container")
	case !options.All:
		return targets[:1], nil
	}
	slices.SortFunc(targets, func(a, b Target) int { return cmp.Compare(a.Pod, b.Pod) })
	return targets, nil
}

// rank returns 0 for a pod that is not ready, 1 for a ready pod, and 2 for a pod that is being deleted.
func rank(pod *corev1.Pod) int {
	switch {
	case pod.DeletionTimestamp != nil:
		return 2
	case status.IsReady(pod):
		return 1
	default:
		return 0
	}
}

// containerOf returns the container whose logs a command shows for a pod.
func containerOf(pod *corev1.Pod, options Options) (string, error) {
	names := containers(pod)
	if options.Container != "" {
		if !slices.Contains(names, options.Container) {
			return "", fmt.Errorf("pod %q has no container %q; use a container of this pod: %s", pod.Name, options.Container,
				strings.Join(names, ", "))
		}
		return options.Container, nil
	}
	if blocking := blockingInit(pod); blocking != "" {
		return blocking, nil
	}
	if slices.Contains(names, options.Server) || len(pod.Spec.Containers) == 0 {
		return options.Server, nil
	}
	return pod.Spec.Containers[0].Name, nil
}

// containers returns the names of a pod's containers, and then the names of its init containers.
func containers(pod *corev1.Pod) []string {
	var names []string
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.InitContainers {
		names = append(names, pod.Spec.InitContainers[i].Name)
	}
	return names
}

// blockingInit returns the init container that prevents the server from starting, because it is running or failing. It
// returns "" if there is none.
func blockingInit(pod *corev1.Pod) string {
	for i := range pod.Status.InitContainerStatuses {
		container := &pod.Status.InitContainerStatuses[i]
		ended := container.State.Terminated
		switch {
		case container.Ready, ended != nil && ended.ExitCode == 0:
		case container.State.Running != nil, ended != nil, container.RestartCount > 0:
			return container.Name
		default: // a container that has not started has no logs
			return ""
		}
	}
	return ""
}

func restarted(pod *corev1.Pod, container string) bool {
	for _, one := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if one.Name == container {
			return one.RestartCount > 0 || one.LastTerminationState.Terminated != nil
		}
	}
	return false
}
