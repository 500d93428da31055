package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// TestReportUsesFieldsOfV1alpha1 checks that the conditions, the events and the failure of a stack that was created as
// v1alpha1 contain v1alpha1 field names.
func TestReportUsesFieldsOfV1alpha1(t *testing.T) {
	const hub, older = "spec.overrideConfig.key: missing; set spec.secretEnv", "spec.server.userConfig.configMapName: missing; set spec.secretEnv of v1alpha2"
	for compat, want := range map[string]string{"": hub, names.CompatV1Alpha1: older} {
		s := &state{stack: newStack(t, `{distribution: {name: starter}}`)}
		s.stack.Annotations = map[string]string{names.AnnotationCompat: compat}
		s.report.markTrue(v1alpha2.ConditionConfigGenerated, "Any", hub)
		s.report.warningEvent("Any", hub)
		failure := &status.Failure{Message: hub}
		told := s.reportInItsWords(failure)
		got := []string{s.report.conditions[0].Message, s.report.events[0].note, told.Message, failure.Message}
		if diff := cmp.Diff([]string{want, want, want, hub}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", compat, diff)
		}
		if again := s.reportInItsWords(told); again.Message != want || s.reportInItsWords(nil) != nil {
			t.Errorf("%q: converted again: %q", compat, again.Message)
		}
	}
}
