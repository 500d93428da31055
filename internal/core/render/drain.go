package render

import (
	"slices"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// drainGrace is the time in seconds within which a terminating server can finish its requests. The server exits as
	// soon as it has finished them, so only long streaming responses use the whole time. The Kubernetes default is too
	// short for such responses.
	drainGrace = 120
	// drainSleep is the time in seconds for which a terminating server still accepts requests. During this time, all
	// senders can remove the server from their lists of endpoints. After SIGTERM, the server rejects new connections
	// (server fact 70).
	drainSleep = 5
)

// drained adds the grace period and the preStop hook that let the server finish its requests. The function runs after
// the user's patch is applied, because a user's preStop hook replaces the operator's. The API server rejects a hook
// with two handlers, and a hook that is longer than the grace period. The pods of a v1alpha1 stack terminate without
// these settings, as they did under the previous operator.
func drained(in Input, template *corev1ac.PodTemplateSpecApplyConfiguration) {
	if of(in).NoDrain {
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

// withoutDrain makes the containers of a pod that serves no requests terminate immediately.
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
