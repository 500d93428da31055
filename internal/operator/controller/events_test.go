package controller_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestEvents checks that events report changes, at most two for each change, and that they are not repeated.
func TestEvents(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	first := env.StartReconciler(t, "events")
	env.Create(t, env.NewStack(t, "my", controllertest.SecretSpec))
	expect := func(want string) {
		t.Helper()
		controllertest.WaitUntil(t, func() error {
			if got := env.ListEventReasons(t); got != want {
				return fmt.Errorf("events %q, want %q", got, want)
			}
			return nil
		})
	}
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonSecretNotFound)
	expect(v1alpha2.EventSecretResolutionFailed)
	env.CheckNoChildren(t)
	env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	expect("DeploymentUpdated, SecretResolutionFailed")
	env.MarkDeploymentReady(t, "my")
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	env.WaitUntilIdle(t, "events")
	first.Stop(t)
	env.StartReconciler(t, "events")
	env.WaitUntilIdle(t, "events")
	expect("DeploymentUpdated, SecretResolutionFailed")

	event := env.ListEvents(t)[0]
	if diff := cmp.Diff("LlamaStackDistribution my", event.Regarding.Kind+" "+event.Regarding.Name); diff != "" {
		t.Error(diff)
	}
}
