package controller_test

import (
	"fmt"
	"strings"
	"testing"

	promtest "github.com/prometheus/client_golang/prometheus/testutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestStackMetrics checks that the metrics show the state of a stack from its first status to its deletion. Package
// metrics has tests for all series.
func TestStackMetrics(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "metrics")
	generations, ready := testutil.Metric(t, "config_generations_total"), testutil.Metric(t, "stack_ready_seconds")
	shows := func(reason string, want float64, exists bool) {
		t.Helper()
		controllertest.WaitUntil(t, func() error {
			key := fmt.Sprintf("my %s %s %s", env.Namespace, reason, v1alpha2.ConditionReady)
			if value, found := testutil.Metric(t, "stack_condition")[key]; found != exists || value != want {
				return fmt.Errorf("the condition Ready with reason %s is %v, found: %t", reason, value, found)
			}
			return nil
		})
	}
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	shows(v1alpha2.ReasonRolloutInProgress, 0, true)
	env.MarkDeploymentReady(t, "my")
	shows(v1alpha2.ReasonMinimumReplicasAvailable, 1, true)
	env.UpdateSpec(t, "my", `{distribution: {name: starter}, resources: {models: [{name: m, provider: nobody}]}}`)
	shows(v1alpha2.ReasonMissingProviderForResource, 0, true)
	now := testutil.Metric(t, "config_generations_total")
	if now["generated"] < generations["generated"]+1 || now["failed"] < generations["failed"]+1 {
		t.Errorf("configurations %v, %v before", now, generations)
	}
	if now := testutil.Metric(t, "stack_ready_seconds"); now[""] < ready[""]+1 {
		t.Errorf("times until stacks are ready %v, %v before", now, ready)
	}
	env.Delete(t, env.GetStack(t))
	shows(v1alpha2.ReasonMissingProviderForResource, 0, false)

	problems, err := promtest.GatherAndLint(metrics.Registry)
	testutil.Must(t, err)
	for _, problem := range problems {
		if strings.HasPrefix(problem.Metric, "llama_stack_operator_") {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	}
}
