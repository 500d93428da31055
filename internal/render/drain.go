package render

import (
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

const (
	// drainGrace in seconds is how long a server that is ended may take to finish the requests it has. It ends as soon as
	// it has finished them, so only long streaming answers make use of it. Kubernetes' own default is too short for them.
	drainGrace = 120
	// drainSleep in seconds is how long a server still takes requests while everything that sends some learns that it
	// ends. From SIGTERM on it refuses new connections.
	drainSleep = 5
)

// drained lets the server finish its requests before it ends. It comes after the user's patch: a preStop hook of the user
// takes the place of ours, and the API server refuses two of them, and one that is longer than the grace period. A stack of
// v1alpha1 ends its pods as ever.
func drained(in Input, template *corev1ac.PodTemplateSpecApplyConfiguration) {
	if compat(in) {
		return
	}
	pod := template.Spec
	if pod.TerminationGracePeriodSeconds == nil {
		pod.WithTerminationGracePeriodSeconds(drainGrace)
	}
	i := slices.IndexFunc(pod.Containers, func(c corev1ac.ContainerApplyConfiguration) bool {
		return ptr.Deref(c.Name, "") == names.ServerContainer(in.Stack.Annotations)
	})
	sleep := min(drainSleep, *pod.TerminationGracePeriodSeconds/2)
	if i < 0 || sleep < 1 {
		return
	}
	container := &pod.Containers[i]
	if container.Lifecycle == nil {
		container.WithLifecycle(corev1ac.Lifecycle())
	}
	if container.Lifecycle.PreStop == nil {
		container.Lifecycle.WithPreStop(corev1ac.LifecycleHandler().WithSleep(corev1ac.SleepAction().WithSeconds(sleep)))
	}
}

// withoutDrain ends the containers of a pod that serves nobody at once.
func withoutDrain(pod *corev1ac.PodSpecApplyConfiguration) {
	for _, container := range containers(pod) {
		if container.Lifecycle == nil {
			continue
		}
		container.Lifecycle.PreStop = nil
		if *container.Lifecycle == (corev1ac.LifecycleApplyConfiguration{}) {
			container.Lifecycle = nil
		}
	}
}
