package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// setPaused sets the annotation that pauses a stack. An empty value removes the annotation.
func setPaused(t *testing.T, env *controllertest.Environment, name, value string) {
	t.Helper()
	env.UpdateStack(t, name, func(stack *v1alpha2.LlamaStackDistribution) {
		delete(stack.Annotations, names.AnnotationPaused)
		if value != "" {
			stack.Annotations = map[string]string{names.AnnotationPaused: value}
		}
	})
}

// TestPaused checks that the operator writes only the status of a paused stack, that this status reports the actual
// state of the pods, and that the operator applies all pending changes after the pause.
func TestPaused(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "paused")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [m], shields: [guard]}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.MarkDeploymentReady(t, "my")
	env.WaitForStackState(t, "my", v1alpha2.PhaseReady, controllertest.ReadyConditions, status.CurrentStatus)

	setPaused(t, env, "my", "true")
	paused := controllertest.WithConditions(controllertest.ReadyConditions, v1alpha2.ConditionReady,
		"False "+v1alpha2.ReasonDeploymentPaused,
		v1alpha2.ConditionDeploymentUpdated, "Unknown "+v1alpha2.ReasonDeploymentPaused,
		v1alpha2.ConditionReconciling, "True "+v1alpha2.ReasonDeploymentPaused)
	env.WaitForStackState(t, "my", v1alpha2.PhasePending, paused, status.InProgressStatus)

	service, before := &corev1.Service{}, &appsv1.Deployment{}
	env.Get(t, names.Service("my"), service)
	env.Delete(t, service)
	env.Get(t, "my", before)
	env.UpdateSpec(t, "my", `{distribution: {name: starter}, networking: {port: 9000}, resources: {models: [m], shields: [guard]}}`)
	got := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused)
	if !strings.Contains(got.Message, "a change to the pods is pending. Remove the annotation") {
		t.Errorf("message %q", got.Message)
	}
	removeReadyPods(t, env, "my")

	setPaused(t, env, "my", "yes")
	got = env.WaitForCondition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonInvalidSpec)
	if want := `metadata.annotations[llamastack.io/paused]: "yes" must be "true" or "false"`; !strings.Contains(got.Message, want) {
		t.Errorf("message %q, want %q in it", got.Message, want)
	}
	after := env.GetDeployment(t)
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("the Deployment of a paused stack changed (-before +after):\n%s", diff)
	}
	if err := env.Client.Get(t.Context(), env.Key(names.Service("my")), service); !apierrors.IsNotFound(err) {
		t.Errorf("the Service of a paused stack exists: %v", err)
	}

	setPaused(t, env, "my", "")
	env.WaitForChild(t, names.Service("my"), service)
	env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	env.Get(t, "my", after)
	if port := after.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort; port != 9000 {
		t.Errorf("the server listens on %d after the pause, want 9000", port)
	}
}

// removeReadyPods sets the number of ready pods of a Deployment to zero, and waits until the status of the stack
// reports this number.
func removeReadyPods(t *testing.T, env *controllertest.Environment, name string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	env.Get(t, name, deployment)
	deployment.Status.ReadyReplicas, deployment.Status.AvailableReplicas = 0, 0
	env.UpdateStatus(t, deployment)
	controllertest.WaitUntil(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		env.Get(t, name, stack)
		if stack.Status.AvailableReplicas != 0 {
			return fmt.Errorf("%d replicas are available", stack.Status.AvailableReplicas)
		}
		return nil
	})
	env.WaitForCondition(t, name, v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress)
}
