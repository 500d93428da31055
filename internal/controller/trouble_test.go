package controller_test

import (
	"maps"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// replicaSet creates the first ReplicaSet of a stack's Deployment.
func (b *bench) replicaSet(t *testing.T, stack string, status appsv1.ReplicaSetStatus) *appsv1.ReplicaSet {
	t.Helper()
	return b.revision(t, stack, "1", status)
}

// revision creates a ReplicaSet of a stack's Deployment, as the Deployment controller does.
func (b *bench) revision(t *testing.T, stack, number string, status appsv1.ReplicaSetStatus) *appsv1.ReplicaSet {
	t.Helper()
	deployment := &appsv1.Deployment{}
	b.get(t, stack, deployment)
	labels := map[string]string{"pod-template-hash": number}
	maps.Copy(labels, deployment.Spec.Selector.MatchLabels)
	template := *deployment.Spec.Template.DeepCopy()
	template.Labels = labels
	set := &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: stack + "-" + number, Labels: labels, Annotations: map[string]string{"deployment.kubernetes.io/revision": number},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template, Replicas: deployment.Spec.Replicas},
	}
	b.create(t, set)
	set.Status = status
	if err := b.Status().Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	return set
}

// pod creates a pod of the ReplicaSet, with a status as a kubelet writes it.
func (b *bench) pod(t *testing.T, set *appsv1.ReplicaSet, status corev1.PodStatus) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: set.Name + "-a", Labels: set.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))},
		},
		Spec: set.Spec.Template.Spec,
	}
	b.create(t, pod)
	pod.Status = status
	if err := b.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

// progress writes the condition Progressing of a Deployment without any ready pod.
func (b *bench) progress(t *testing.T, stack, reason string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	b.get(t, stack, deployment)
	patch := client.MergeFrom(deployment.DeepCopy())
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, UnavailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: reason}},
	}
	if err := b.Status().Patch(t.Context(), deployment, patch); err != nil {
		t.Fatal(err)
	}
}

// container returns the status of a pod whose server is in this state.
func container(image string, state, last corev1.ContainerState) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "llama-stack", Image: image, State: state, LastTerminationState: last,
	}}}
}

func waitingFor(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
}

// TestTroubleOfPods checks that Available names the reason why the pods of a stack do not serve, in the words of the
// pods, the ReplicaSet or the admission that rejects them.
func TestTroubleOfPods(t *testing.T) {
	b := newBench(t)
	b.direct(t, "trouble")
	unscheduled := corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
	}}}
	refused := func(message string) appsv1.ReplicaSetStatus {
		return appsv1.ReplicaSetStatus{Conditions: []appsv1.ReplicaSetCondition{{
			Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: message,
		}}}
	}
	backOff := waitingFor("CrashLoopBackOff", "back-off 5m0s restarting failed container")
	for _, tc := range []struct {
		name     string
		set      appsv1.ReplicaSetStatus
		pod      *corev1.PodStatus
		progress string
		reason   string
		phase    v1alpha2.Phase
		want     string
	}{
		{
			name: "image", pod: new(container("docker.io/llamastack/distribution-starter:0.5.2", waitingFor("ImagePullBackOff", "not found"), corev1.ContainerState{})),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `image "docker.io/llamastack/distribution-starter:0.5.2" of container "llama-stack" cannot be pulled: the registry does not have the image; ` +
				`the images of docker.io/llamastack moved to docker.io/ogxai: set spec.distribution.image to "docker.io/ogxai/distribution-starter:0.5.2"; ` +
				`see kubectl describe pod image-1-a`,
		},
		{
			name: "crash", pod: new(container("i", backOff, terminated(0, "Completed", "ValueError: [type=x, input_value='sk-1']"))),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `container "llama-stack" crashed with ValueError; see kubectl logs crash-1-a -c llama-stack --previous`,
		},
		{
			name: "silent", pod: new(container("i", backOff, terminated(0, "Completed", ""))),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `container "llama-stack" ended with exit code 0: the server cannot start, or its health check did not pass in time; see kubectl logs silent-1-a -c llama-stack --previous`,
		},
		{
			name: "memory", pod: new(container("i", backOff, terminated(137, "OOMKilled", ""))),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `container "llama-stack" ran out of memory; raise spec.workload.resources.limits.memory`,
		},
		{
			name: "unschedulable", pod: &unscheduled, reason: v1alpha2.ReasonRolloutInProgress, phase: v1alpha2.PhaseInitializing,
			want: `pod "unschedulable-1-a" cannot be scheduled: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.`,
		},
		{
			name: "quota", set: refused(`pods "quota-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `pods cannot be created: pods "quota-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`,
		},
		{
			name: "denied", set: refused(`admission webhook "policy.example.com" denied the request: no`),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `pods cannot be created: admission webhook "policy.example.com" denied the request: no`,
		},
		{
			name: "slow", pod: new(container("i", corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, corev1.ContainerState{})), progress: "ProgressDeadlineExceeded",
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `container "llama-stack" is running, but its health check does not pass; see kubectl logs slow-1-a -c llama-stack`,
		},
		{
			name: "lost", pod: new(container("i", waitingFor("ContainerCreating", ""), corev1.ContainerState{})), progress: "NewReplicaSetAvailable",
			reason: v1alpha2.ReasonReplicasUnavailable, phase: v1alpha2.PhaseInitializing,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b.create(t, b.stack(t, tc.name, `{distribution: {name: starter}}`))
			b.condition(t, tc.name, v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			set := b.replicaSet(t, tc.name, tc.set)
			if tc.pod != nil {
				b.pod(t, set, *tc.pod)
			}
			if tc.progress != "" {
				b.progress(t, tc.name, tc.progress)
			}
			want := "0/1 replicas available with current config"
			if tc.want != "" {
				want += ": " + tc.want
			}
			eventually(t, func() error { return b.says(t, tc.name, v1alpha2.ConditionAvailable, tc.reason, want) })
			if err := b.says(t, tc.name, v1alpha2.ConditionReady, tc.reason, "Available is False; its message has the details"); err != nil {
				t.Error(err)
			}
			stack := &v1alpha2.LlamaStackDistribution{}
			if b.get(t, tc.name, stack); stack.Status.Phase != tc.phase {
				t.Errorf("phase %q, want %q", stack.Status.Phase, tc.phase)
			}
		})
	}
}
