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

// conditionMetrics returns the value and the reason of each condition of a stack in the metrics.
func conditionMetrics(t *testing.T, namespace, name string) map[string]string {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, family := range families {
		if family.GetName() != "llama_stack_operator_stack_condition" {
			continue
		}
		for _, metric := range family.GetMetric() {
			has := map[string]string{}
			for _, label := range metric.GetLabel() {
				has[label.GetName()] = label.GetValue()
			}
			if has["namespace"] == namespace && has["name"] == name {
				found[has["type"]] = fmt.Sprintf("%v %s", metric.GetGauge().GetValue(), has["reason"])
			}
		}
	}
	return found
}

// TestStackMetrics checks that the metrics show the state of a stack from its first status to its deletion.
func TestStackMetrics(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, "metrics")
	generated, failed := map[string]string{"result": "generated"}, map[string]string{"result": "failed"}
	before := map[string]float64{}
	before["generated"], _ = metricValue(t, "config_generations_total", generated)
	before["failed"], _ = metricValue(t, "config_generations_total", failed)
	before["ready"], _ = metricValue(t, "stack_ready_seconds", map[string]string{})
	shows := func(want map[string]string) {
		t.Helper()
		controllertest.WaitUntil(t, func() error {
			now, got := conditionMetrics(t, env.Namespace, "my"), map[string]string{}
			for condition := range want {
				got[condition] = now[condition]
			}
			if diff := cmp.Diff(want, got); diff != "" {
				return fmt.Errorf("conditions (-want +got):\n%s", diff)
			}
			return nil
		})
	}
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	shows(map[string]string{
		v1alpha2.ConditionReady: "0 RolloutInProgress", v1alpha2.ConditionConfigGenerated: "1 ConfigGenerationSucceeded",
		v1alpha2.ConditionReconciling: "1 RolloutInProgress",
	})
	count, _ := metricValue(t, "stacks", map[string]string{"phase": "Initializing", "release": "0.7"})
	if count < 1 {
		t.Errorf("%v stacks in the phase Initializing, want at least one", count)
	}
	env.MarkDeploymentReady(t, "my")
	shows(map[string]string{v1alpha2.ConditionReady: "1 MinimumReplicasAvailable", v1alpha2.ConditionReconciling: ""})
	count, _ = metricValue(t, "stacks", map[string]string{"phase": "Ready", "release": "0.7"})
	if count < 1 {
		t.Errorf("%v stacks in the phase Ready, want at least one", count)
	}
	env.UpdateStack(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Spec = env.NewStack(t, "my", `{distribution: {name: starter}, resources: {models: [{name: m, provider: nobody}]}}`).Spec
	})
	shows(map[string]string{
		v1alpha2.ConditionReady: "0 MissingProviderForResource", v1alpha2.ConditionStalled: "1 MissingProviderForResource",
	})
	controllertest.WaitUntil(t, func() error {
		for name, labels := range map[string]map[string]string{"generated": generated, "failed": failed} {
			if now, _ := metricValue(t, "config_generations_total", labels); now < before[name]+1 {
				return fmt.Errorf("%v configurations were %s, %v before", now, name, before[name])
			}
		}
		if now, _ := metricValue(t, "stack_ready_seconds", map[string]string{}); now < before["ready"]+1 {
			return fmt.Errorf("%v stacks became ready, %v before", now, before["ready"])
		}
		return nil
	})
	env.Delete(t, env.GetStack(t))
	shows(map[string]string{v1alpha2.ConditionReady: "", v1alpha2.ConditionStalled: ""})

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
