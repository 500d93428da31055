package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// TestRunningServerVersion checks that the operator queries the running server once for each complete rollout, with
// three requests, and once after a restart of the operator. The response causes one status write. The restart causes no
// calls to the API server.
func TestRunningServerVersion(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	asked := env.StartServer(t, "0.7.1")
	first := env.StartOperator(t, "version")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.WaitUntilIdle(t, "version")
	if got := asked.Requests.Load(); got != 0 {
		t.Errorf("%d requests to a stack without ready pods, want none", got)
	}
	before := len(env.WaitUntilIdle(t, "version"))
	env.MarkDeploymentReady(t, "my")
	stack := env.WaitForServerVersion(t, "my", "0.7.1")
	seen := env.WaitUntilIdle(t, "version")
	transition := "patch llamastackdistributions status my"
	if diff := cmp.Diff([]string{transition, transition}, seen[before:]); diff != "" {
		t.Errorf("calls after a rollout and a reported version (-want +got):\n%s", diff)
	}
	if got := env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonDistributionDefaultUsed); strings.Contains(got.Message, "release") {
		t.Errorf("message %q for a server with the expected release", got.Message)
	}
	if stack.Status.Version.LastUpdated == nil {
		t.Error("the version has no time")
	}
	first.Stop(t)
	env.StartOperator(t, "version")
	controllertest.WaitUntil(t, func() error {
		if got := asked.Requests.Load(); got != 6 {
			return fmt.Errorf("%d requests", got)
		}
		return nil
	})
	if now := env.WaitUntilIdle(t, "version"); len(now) != len(seen) {
		t.Errorf("calls after a restart: %v", now[len(seen):])
	}
	if got := asked.Requests.Load(); got != 6 {
		t.Errorf("%d requests, want three for the rollout and three for the restart", got)
	}
}

// TestServerReleaseDiffers checks that, if the release of a server differs from the release of its configuration, the
// status and an event report the difference and the remedy, and that the stack stays ready.
func TestServerReleaseDiffers(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	env.StartServer(t, "1.9.2")
	env.Workers = true
	env.StartReconciler(t, "differs")
	env.SetOperatorConfig(t, operatorconfig.KeyImageOverrides, "starter: mirror.example.com/starter:mine")
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [llama]}}`))
	env.WaitForImage(t, "my", "mirror.example.com/starter:mine", v1alpha2.ImageFromOperatorConfig)
	env.MarkDeploymentReady(t, "my")
	env.WaitForServerVersion(t, "my", "1.9.2")
	note := "the server runs release 1.9.2, but its configuration is for release 0.7: use an image with a server release that this operator supports: " + strings.Join(release.Offered(), ", ")
	controllertest.WaitUntil(t, func() error {
		condition := env.WaitForCondition(t, "my", v1alpha2.ConditionConfigGenerated,
			v1alpha2.ReasonConfigGenerationSucceeded)
		if condition.Status != metav1.ConditionTrue || !strings.HasSuffix(condition.Message, "; "+note) {
			return fmt.Errorf("condition %+v, want %q", condition, note)
		}
		return nil
	})
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	if diff := cmp.Diff([]string{note}, listEventNotes(t, env, v1alpha2.EventServerReleaseDiffers)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
