package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

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
	if diff := cmp.Diff(want, testutil.Metric(t, "config_errors")); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	SetConfigErrors(nil)
	delete(want, "typo")
	want[operatorconfig.KeyImageOverrides] = 0
	if diff := cmp.Diff(want, testutil.Metric(t, "config_errors")); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
