package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// readyStack returns a stack that is ready.
func readyStack(namespace, name string) *v1alpha2.LlamaStackDistribution {
	return &v1alpha2.LlamaStackDistribution{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Status: v1alpha2.LlamaStackDistributionStatus{
			Phase:      v1alpha2.PhaseReady,
			Conditions: []metav1.Condition{{Type: v1alpha2.ConditionReady, Status: metav1.ConditionTrue, Reason: "R"}},
		},
	}
}

// TestListedStacks checks that a namespace cannot have more than its share of the series, that the metric of all stacks
// counts the others, and that a stack gets series when another one is deleted.
func TestListedStacks(t *testing.T) {
	m := newStackMetrics()
	const omitted = 3
	for i := range maxListedOfNamespace + omitted {
		m.observe(readyStack("many", fmt.Sprint(i)), time.Time{})
	}
	m.observe(readyStack("few", "my"), time.Time{})
	expect := func(listed, omitted int) {
		t.Helper()
		got := map[string]int{}
		for _, name := range []string{"stack_condition", "stacks_without_series"} {
			got[name] = testutil.CollectAndCount(m, "llama_stack_operator_"+name)
		}
		if diff := cmp.Diff(map[string]int{"stack_condition": listed, "stacks_without_series": 1}, got); diff != "" {
			t.Errorf("series (-want +got):\n%s", diff)
		}
		want := fmt.Sprintf("# HELP llama_stack_operator_stacks_without_series %s\n# TYPE llama_stack_operator_stacks_without_series gauge\n"+
			"llama_stack_operator_stacks_without_series %d\n", "Stacks that exceed the limits for metrics of single stacks.", omitted)
		err := testutil.CollectAndCompare(m, strings.NewReader(want), "llama_stack_operator_stacks_without_series")
		if err != nil {
			t.Error(err)
		}
	}
	expect(maxListedOfNamespace+1, omitted)
	for _, state := range m.states {
		if !state.listed && len(state.conditions) > 0 {
			t.Error("the conditions of a stack without series are kept")
		}
	}
	m.forget(types.NamespacedName{Namespace: "many", Name: "0"})
	m.observe(readyStack("many", fmt.Sprint(maxListedOfNamespace)), time.Time{})
	expect(maxListedOfNamespace+1, omitted-1)
	for i := range maxListed {
		m.observe(readyStack(fmt.Sprint("namespace-", i), "my"), time.Time{})
	}
	expect(maxListed, maxListedOfNamespace+omitted)
}

// TestStackSeries checks the series of one stack, also while another operator manages it.
func TestStackSeries(t *testing.T) {
	m := newStackMetrics()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	name := types.NamespacedName{Namespace: "a", Name: "my"}
	m.observeOtherOperator(name, false)
	expect := func(want ...string) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				line := strings.TrimPrefix(family.GetName(), "llama_stack_operator_")
				for _, label := range metric.GetLabel() {
					line += " " + label.GetValue()
				}
				got = append(got, fmt.Sprintf("%s: %v", line, metric.GetGauge().GetValue()))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("series (-want +got):\n%s", diff)
		}
	}
	expect()
	m.observeOtherOperator(name, true)
	expect("other_operator my a: 1", "stacks_without_series: 0")
	m.observeOtherOperator(name, false)
	m.observe(readyStack("a", "my"), time.Unix(1700000000, 0))
	expect("stack_certificate_expiry_seconds my a: 1.7e+09", "stack_condition my a R Ready: 1", "stacks Ready : 1", "stacks_without_series: 0")
	m.forget(name)
	expect()
}
