package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// metricValue returns the value of a metric with the given labels. For a histogram, that is the number of observations.
func metricValue(t *testing.T, name string, labels map[string]string) (value float64, found bool) {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			has := map[string]string{}
			for _, label := range metric.GetLabel() {
				has[label.GetName()] = label.GetValue()
			}
			if family.GetName() == "llama_stack_operator_"+name && cmp.Equal(has, labels) {
				return metric.GetGauge().GetValue() + metric.GetCounter().GetValue() +
					float64(metric.GetHistogram().GetSampleCount()), true
			}
		}
	}
	return 0, false
}

// TestStackMetrics checks that the metrics show the state of a stack from its first status to its deletion. Package
// metrics has tests for all series.
func TestStackMetrics(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "metrics")
	counters := map[string]map[string]string{
		"config_generations_total": {"result": "generated"}, "stack_ready_seconds": {},
	}
	before := map[string]float64{}
	for name, labels := range counters {
		before[name], _ = metricValue(t, name, labels)
	}
	ready := func(reason string) map[string]string {
		return map[string]string{
			"namespace": env.Namespace, "name": "my", "type": v1alpha2.ConditionReady, "reason": reason,
		}
	}
	shows := func(reason string, want float64) {
		t.Helper()
		controllertest.WaitUntil(t, func() error {
			if value, found := metricValue(t, "stack_condition", ready(reason)); !found || value != want {
				return fmt.Errorf("the condition Ready with reason %s is %v, found: %t", reason, value, found)
			}
			return nil
		})
	}
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	shows(v1alpha2.ReasonRolloutInProgress, 0)
	env.MarkDeploymentReady(t, "my")
	shows(v1alpha2.ReasonMinimumReplicasAvailable, 1)
	for name, labels := range counters {
		if now, _ := metricValue(t, name, labels); now < before[name]+1 {
			t.Errorf("%s is %v, %v before", name, now, before[name])
		}
	}
	failed := map[string]string{"result": "failed"}
	failures, _ := metricValue(t, "config_generations_total", failed)
	env.UpdateSpec(t, "my", `{distribution: {name: starter}, resources: {models: [{name: m, provider: nobody}]}}`)
	shows(v1alpha2.ReasonMissingProviderForResource, 0)
	if now, _ := metricValue(t, "config_generations_total", failed); now < failures+1 {
		t.Errorf("%v configurations failed, %v before", now, failures)
	}
	env.Delete(t, env.GetStack(t))
	controllertest.WaitUntil(t, func() error {
		if value, found := metricValue(t, "stack_condition", ready(v1alpha2.ReasonMissingProviderForResource)); found {
			return fmt.Errorf("the deleted stack has the condition Ready with value %v", value)
		}
		return nil
	})

	problems, err := testutil.GatherAndLint(metrics.Registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		if strings.HasPrefix(problem.Metric, "llama_stack_operator_") {
			t.Errorf("%s: %s", problem.Metric, problem.Text)
		}
	}
}
