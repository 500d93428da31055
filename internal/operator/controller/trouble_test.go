package controller_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestTroubleOfPods checks that the message of Available contains the reason why the pods of a stack do not serve
// requests. The reason comes from the status of a pod, of the ReplicaSet or of the Deployment. Package status has tests
// for all reasons.
func TestTroubleOfPods(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "trouble")
	refused := func(message string) appsv1.ReplicaSetStatus {
		return appsv1.ReplicaSetStatus{Conditions: []appsv1.ReplicaSetCondition{{
			Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate", Message: message,
		}}}
	}
	backOff := controllertest.WaitingState("CrashLoopBackOff", "back-off 5m0s restarting failed container")
	for _, tc := range []troubleCase{
		{
			name: "crash", pod: new(controllertest.ServerPodStatus("i", backOff, controllertest.TerminatedState(0, "Completed", "ValueError: [type=x, input_value='sk-1']"))),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `container "llama-stack" crashed with ValueError; see kubectl logs crash-1-a -c llama-stack --previous`,
		},
		{
			name: "quota", set: refused(`pods "quota-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`),
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `pods cannot be created: pods "quota-1-x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`,
		},
		{
			name: "slow", pod: new(controllertest.ServerPodStatus("i", corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, corev1.ContainerState{})), progress: "ProgressDeadlineExceeded",
			reason: v1alpha2.ReasonRolloutFailed, phase: v1alpha2.PhaseFailed,
			want: `container "llama-stack" is running, but its health check does not pass; see kubectl logs slow-1-a -c llama-stack`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) { checkTrouble(t, tc, env) })
	}
}

// troubleCase is a row of TestTroubleOfPods.
type troubleCase struct {
	name     string
	set      appsv1.ReplicaSetStatus
	pod      *corev1.PodStatus
	progress string
	reason   string
	phase    v1alpha2.Phase
	want     string
}

// checkTrouble creates a stack with the pods of a row and waits for its conditions.
func checkTrouble(t *testing.T, tc troubleCase, env *controllertest.Environment) {
	env.Create(t, env.NewStack(t, tc.name, `{distribution: {name: starter}}`))
	env.WaitForCondition(t, tc.name, v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	set := env.CreateReplicaSet(t, tc.name, tc.set)
	if tc.pod != nil {
		env.CreatePod(t, set, *tc.pod)
	}
	if tc.progress != "" {
		env.SetProgressReason(t, tc.name, tc.progress)
	}
	want := "0/1 replicas available with current config: " + tc.want
	controllertest.WaitUntil(t, func() error {
		return env.CheckCondition(t, tc.name, v1alpha2.ConditionAvailable,
			tc.reason, want)
	})
	if err := env.CheckCondition(t, tc.name, v1alpha2.ConditionReady, tc.reason, "Available is False; its message contains the details"); err != nil {
		t.Error(err)
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	if env.Get(t, tc.name, stack); stack.Status.Phase != tc.phase {
		t.Errorf("phase %q, want %q", stack.Status.Phase, tc.phase)
	}
}
