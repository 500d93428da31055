package controllertest

import (
	"context"
	"maps"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// InitContainerStatuses returns the statuses of the init containers in a pod of the ReplicaSet. The map `states`
// contains the states by container name. Containers that are not in the map are waiting.
func InitContainerStatuses(set *appsv1.ReplicaSet, states map[string]corev1.ContainerState) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for _, container := range set.Spec.Template.Spec.InitContainers {
		state, ok := states[container.Name]
		if !ok {
			state = WaitingState("PodInitializing", "")
		}
		statuses = append(statuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, State: state, Ready: state.Terminated != nil &&
				state.Terminated.ExitCode == 0,
		})
	}
	return statuses
}

// AssignToNode assigns a pod to a node, as a scheduler does.
func (env *Environment) AssignToNode(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
	if err := env.Client.SubResource("binding").Create(t.Context(), pod, binding); err != nil {
		t.Fatal(err)
	}
}

// SetPodStatus writes the status of a pod, as a kubelet does. It retries after a conflict.
func (env *Environment) SetPodStatus(t *testing.T, pod *corev1.Pod, status corev1.PodStatus) {
	t.Helper()
	WaitUntil(t, func() error {
		env.Get(t, pod.Name, pod)
		pod.Status = status
		return env.Client.Status().Update(t.Context(), pod)
	})
}

// TerminateDeletedPods removes pods that are being deleted, as a kubelet does, until the end of the test.
func (env *Environment) TerminateDeletedPods(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { stop(); <-done })
	go func() {
		defer close(done)
		for tick := time.Tick(PollInterval); ctx.Err() == nil; {
			var pods corev1.PodList
			_ = env.Client.List(ctx, &pods, client.InNamespace(env.Namespace))
			for i := range pods.Items {
				if pods.Items[i].DeletionTimestamp != nil {
					_ = env.Client.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0))
				}
			}
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
	}()
}

// ContainersReadyStatus returns the status of a pod whose containers are ready, but which does not become ready because
// of a readiness gate. A successful preflight pod has this status.
func ContainersReadyStatus() corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady"},
		},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "llama-stack", Ready: true,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
}

// CreateReplicaSet creates the first ReplicaSet of a stack's Deployment, as the Deployment controller does.
func (env *Environment) CreateReplicaSet(
	t *testing.T, stack string, status appsv1.ReplicaSetStatus,
) *appsv1.ReplicaSet {
	t.Helper()
	const number = "1"
	deployment := &appsv1.Deployment{}
	env.Get(t, stack, deployment)
	labels := map[string]string{"pod-template-hash": number}
	maps.Copy(labels, deployment.Spec.Selector.MatchLabels)
	template := *deployment.Spec.Template.DeepCopy()
	template.Labels = labels
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: stack + "-" + number, Labels: labels,
			Annotations: map[string]string{"deployment.kubernetes.io/revision": number},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment,
				appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
			Replicas: deployment.Spec.Replicas,
		},
	}
	env.Create(t, set)
	set.Status = status
	if err := env.Client.Status().Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	return set
}

// CreatePod creates a pod of a ReplicaSet, with a status that a kubelet would write.
func (env *Environment) CreatePod(t *testing.T, set *appsv1.ReplicaSet, status corev1.PodStatus) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: set.Name + "-a", Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set,
				appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: set.Spec.Template.Spec,
	}
	env.Create(t, pod)
	pod.Status = status
	if err := env.Client.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// PodAddress is the address of the pods that serve stacks in tests. No program has this address.
const PodAddress = "198.51.100.7"

// RunningPodStatus returns the status of a pod whose server runs the image.
func RunningPodStatus(image string, ready corev1.ConditionStatus) corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: PodAddress, PodIPs: []corev1.PodIP{{IP: PodAddress}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: "llama-stack", ImageID: image, Ready: ready == corev1.ConditionTrue,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}},
	}
}

// createServingPod creates the pod that answers for a stack, with its ReplicaSet, unless the stack has pods.
func (env *Environment) createServingPod(t *testing.T, stack string) {
	t.Helper()
	var pods corev1.PodList
	if err := env.Client.List(t.Context(), &pods, client.InNamespace(env.Namespace),
		client.MatchingLabels(names.Selector(stack))); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) == 0 {
		set := env.CreateReplicaSet(t, stack, appsv1.ReplicaSetStatus{})
		set.Spec.Template.Spec.NodeName = "node"
		env.CreatePod(t, set, RunningPodStatus("", corev1.ConditionTrue))
	}
}

// SetProgressReason sets the status of a stack's Deployment. No pod is ready, and the condition Progressing has this
// reason.
func (env *Environment) SetProgressReason(t *testing.T, stack, reason string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	env.Get(t, stack, deployment)
	patch := client.MergeFrom(deployment.DeepCopy())
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, UnavailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue,
			Reason: reason,
		}},
	}
	if err := env.Client.Status().Patch(t.Context(), deployment, patch); err != nil {
		t.Fatal(err)
	}
}

// ServerPodStatus returns the status of a pending pod with the current and the last state of the server's container.
func ServerPodStatus(image string, state, last corev1.ContainerState) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "llama-stack", Image: image, State: state, LastTerminationState: last,
	}}}
}

// WaitingState returns the state of a container that is waiting.
func WaitingState(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

// TerminatedState returns the state of a container that has terminated.
func TerminatedState(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message,
	}}
}
