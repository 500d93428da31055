package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestConditionsOfALifecycle checks the state of a stack for users and for tools that use kstatus, from its creation to
// its deletion.
func TestConditionsOfALifecycle(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "life")
	stack := env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [m], shields: [guard]}}`)
	stack.Finalizers = []string{"example.com/somebody-else"}
	env.Create(t, stack)
	env.WaitForStackState(t, "my", v1alpha2.PhaseInitializing, controllertest.AppliedConditions, status.InProgressStatus)

	env.MarkDeploymentReady(t, "my")
	env.WaitForStackState(t, "my", v1alpha2.PhaseReady, controllertest.ReadyConditions, status.CurrentStatus)

	// A release that does not support the spec leaves the running pods unchanged.
	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Distribution.Version = "1.0" })
	waiting := "Unknown " + v1alpha2.ReasonWaiting
	failed := "False " + v1alpha2.ReasonUpgradeConfigFailure
	env.WaitForStackState(t, "my", v1alpha2.PhaseFailed, controllertest.WithConditions(controllertest.ReadyConditions,
		v1alpha2.ConditionReady, failed, v1alpha2.ConditionConfigGenerated, failed,
		v1alpha2.ConditionDeploymentUpdated, waiting,
		v1alpha2.ConditionStalled, "True "+v1alpha2.ReasonUpgradeConfigFailure), status.FailedStatus)

	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Spec.Distribution.Version = ""
		stack.Spec.Workload.Replicas = new(int32(0))
	})
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.MarkDeploymentReady(t, "my")
	zero := "True " + v1alpha2.ReasonScaledToZero
	env.WaitForStackState(t, "my", v1alpha2.PhaseReady, controllertest.WithConditions(controllertest.ReadyConditions,
		v1alpha2.ConditionReady, zero, v1alpha2.ConditionAvailable, zero), status.CurrentStatus)

	env.Get(t, "my", stack)
	env.Delete(t, stack)
	controllertest.WaitUntil(t, func() error {
		if seen := env.GetStackState(t, "my"); seen.Phase != v1alpha2.PhaseTerminating ||
			seen.Tools != status.TerminatingStatus {
			return fmt.Errorf("phase %s, state for tools %s", seen.Phase, seen.Tools)
		}
		return nil
	})
	service := &corev1.Service{ObjectMeta: controllertest.ObjectMeta(env.Namespace, names.Service("my"))}
	env.Delete(t, service)
	env.WaitUntilIdle(t, "life")
	env.WaitForNoChild(t, service.Name, service) // the operator does not create it again
	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Finalizers = nil })
	for _, reason := range []string{
		v1alpha2.EventDeploymentUpdated, v1alpha2.EventConfigGenerationFailed,
	} {
		if got := env.ListEventReasons(t); !strings.Contains(got, reason) {
			t.Errorf("events %q, want them to include %s", got, reason)
		}
	}
}

// TestConditionsOfStorage checks the conditions for a claim without a volume, and for a claim whose volume no longer
// exists.
func TestConditionsOfStorage(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "storage")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionStorageReady, v1alpha2.ReasonStorageReady)
	claim := &corev1.PersistentVolumeClaim{}
	env.Get(t, "my-pvc", claim)
	told := metav1.NewTime(time.Now().Truncate(time.Second))
	for i, event := range []corev1.Event{
		{
			Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: "an older problem",
			LastTimestamp: metav1.NewTime(told.Add(-time.Minute)),
		},
		{
			Type: corev1.EventTypeNormal, Reason: "WaitForFirstConsumer", Message: "waiting for first consumer",
			LastTimestamp: metav1.NewTime(told.Add(time.Minute)),
		},
		{Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: `storageclass.storage.k8s.io "fast" not found`, LastTimestamp: told},
	} {
		event.Name = fmt.Sprintf("my-pvc.%d", i)
		event.InvolvedObject = corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: env.Namespace, Name: claim.Name, UID: claim.UID,
		}
		env.Create(t, &event)
	}
	controllertest.WaitUntil(t, func() error {
		return env.CheckCondition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress, "0/1 replicas available with current config: "+
			`PersistentVolumeClaim "my-pvc" has no volume: storageclass.storage.k8s.io "fast" not found`)
	})
	claim.Status.Phase = corev1.ClaimLost
	env.UpdateStatus(t, claim)
	env.WaitForCondition(t, "my", v1alpha2.ConditionStorageReady, v1alpha2.ReasonStorageLost)
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonStorageLost)
}
