package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// configErrorsNow returns the samples of the metric, by key.
func configErrorsNow(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "llama_stack_operator_config_errors" {
			continue
		}
		for _, metric := range family.GetMetric() {
			found[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
		}
	}
	return found
}

// TestConfigErrorsMetric checks that every known key has a sample, which is 0 if there is no error, and that an unknown
// key has a sample only while it has an error.
func TestConfigErrorsMetric(t *testing.T) {
	images := field.NewPath(operatorconfig.KeyImageOverrides)
	SetConfigErrors(field.ErrorList{
		field.Invalid(images.Key("a.b"), "", "x"), field.Invalid(images, "", "x"),
		field.Invalid(field.NewPath("typo"), "", "x"),
	})
	want := map[string]float64{"typo": 1}
	for _, key := range operatorconfig.Keys() {
		want[key] = 0
	}
	want[operatorconfig.KeyImageOverrides] = 2
	if diff := cmp.Diff(want, configErrorsNow(t)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	SetConfigErrors(nil)
	delete(want, "typo")
	want[operatorconfig.KeyImageOverrides] = 0
	if diff := cmp.Diff(want, configErrorsNow(t)); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
