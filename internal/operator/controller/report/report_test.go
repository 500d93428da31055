package report

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestReportUsesFieldsOfV1alpha1 checks that the conditions, the events and the failure of a stack that was created as
// v1alpha1 contain v1alpha1 field names.
func TestReportUsesFieldsOfV1alpha1(t *testing.T) {
	const hub, older = "spec.overrideConfig.key: missing; set spec.secretEnv", "spec.server.userConfig.configMapName: missing; set spec.secretEnv of v1alpha2"
	for compat, want := range map[string]string{"": hub, names.CompatV1Alpha1: older} {
		var report Report
		stack := &v1alpha2.LlamaStackDistribution{}
		stack.Annotations = map[string]string{names.AnnotationCompat: compat}
		report.MarkTrue(v1alpha2.ConditionConfigGenerated, "Any", hub)
		report.Warning("Any", hub)
		failure := &status.Failure{Message: hub}
		told := report.InItsWords(stack, failure)
		got := []string{report.Conditions[0].Message, report.Events[0].Note, told.Message, failure.Message}
		if diff := cmp.Diff([]string{want, want, want, hub}, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", compat, diff)
		}
		if again := report.InItsWords(stack, told); again.Message != want || report.InItsWords(stack, nil) != nil {
			t.Errorf("%q: converted again: %q", compat, again.Message)
		}
	}
}

// newStatus returns a status with the conditions that every status has. The conditions in `others` replace conditions
// of the same type.
func newStatus(configMap string, others ...metav1.Condition) *v1alpha2.LlamaStackDistributionStatus {
	conditions := []metav1.Condition{
		{Type: v1alpha2.ConditionValidationSucceeded, Status: metav1.ConditionTrue, Reason: v1alpha2.ReasonSpecValid},
		{Type: v1alpha2.ConditionSecretsResolved, Status: metav1.ConditionTrue, Reason: v1alpha2.ReasonNoSecretsReferenced},
		{Type: v1alpha2.ConditionConfigGenerated, Status: metav1.ConditionTrue, Message: "Generated config.yaml; note"},
		{
			Type: v1alpha2.ConditionDeploymentUpdated, Status: metav1.ConditionTrue,
			Reason: v1alpha2.ReasonDeploymentUpdateSucceeded,
		},
	}
	for _, other := range others {
		for i := range conditions {
			if conditions[i].Type == other.Type {
				conditions[i] = other
			}
		}
	}
	status := &v1alpha2.LlamaStackDistributionStatus{Conditions: conditions}
	if configMap != "" {
		status.ConfigGeneration = &v1alpha2.ConfigGeneration{ConfigMapName: configMap}
	}
	return status
}

// TestEmit checks that events report the changes in a status, at most two for each change, warnings first, and that
// they are not repeated.
func TestEmit(t *testing.T) {
	missing := metav1.Condition{
		Type: v1alpha2.ConditionSecretsResolved, Status: metav1.ConditionFalse, Reason: v1alpha2.ReasonSecretNotFound,
		Message: "no Secret",
	}
	waits := metav1.Condition{
		Type: v1alpha2.ConditionDeploymentUpdated, Status: metav1.ConditionFalse, Reason: v1alpha2.ReasonDataLossNotAccepted,
		Message: "lost",
	}
	empty := &v1alpha2.LlamaStackDistributionStatus{}
	for name, tc := range map[string]struct {
		before, now *v1alpha2.LlamaStackDistributionStatus
		found       []Event // events from the steps
		want        []string
	}{
		"nothing changed":      {before: newStatus("a"), now: newStatus("a")},
		"new configuration":    {before: empty, now: newStatus("a")},
		"missing Secret":       {before: newStatus(""), now: newStatus("", missing), want: []string{"Warning SecretResolutionFailed no Secret"}},
		"still missing Secret": {before: newStatus("", missing), now: newStatus("", missing)},
		"new pending change": {
			before: newStatus(""), now: newStatus("", waits),
			want: []string{"Warning DataLossNotAccepted lost"},
		},
		"still pending change": {before: newStatus("", waits), now: newStatus("", waits)},
		"warnings come first": {
			before: empty, now: newStatus("a"),
			found: []Event{
				{"Normal", "DeploymentUpdated", "x"},
				{"Warning", "ProviderIgnored", "y"},
				{"Warning", "ConfigWarning", "z"},
			},
			want: []string{"Warning ProviderIgnored y", "Warning ConfigWarning z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := events.NewFakeRecorder(10)
			own := &v1alpha2.LlamaStackDistribution{Status: *tc.now}
			NewWriter(nil, recorder).emit(own, tc.found, tc.before)
			close(recorder.Events)
			var got []string
			for event := range recorder.Events {
				got = append(got, event)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusMemory(t *testing.T) {
	object := func(version, phase string) *v1alpha2.LlamaStackDistribution {
		o := &v1alpha2.LlamaStackDistribution{}
		o.Name, o.UID, o.ResourceVersion, o.Status.Phase = "my", "u", version, v1alpha2.Phase(phase)
		return o
	}
	for name, tc := range map[string]struct {
		cached *v1alpha2.LlamaStackDistribution
		want   string
	}{
		"older version":                     {object("9", "Pending"), "Ready"},
		"same version":                      {object("10", "Ready"), "Ready"},
		"newer version":                     {object("11", "Failed"), "Failed"},
		"another object with the same name": {func() *v1alpha2.LlamaStackDistribution { o := object("9", "Pending"); o.UID = "v"; return o }(), "Pending"},
		"version that is not a number":      {object("x", "Pending"), "Pending"},
	} {
		t.Run(name, func(t *testing.T) {
			memory := NewWriter(nil, nil)
			memory.remember(object("10", "Ready"))
			memory.Refresh(tc.cached)
			if got := string(tc.cached.Status.Phase); got != tc.want {
				t.Errorf("phase %q, want %q", got, tc.want)
			}
		})
	}
}

// TestKeptStatuses checks the memory for the statuses that the operator wrote.
func TestKeptStatuses(t *testing.T) {
	memory := NewWriter(nil, nil)
	before := testutil.Heap()
	for n := range 1000 {
		written := &v1alpha2.LlamaStackDistribution{}
		written.Namespace, written.Name, written.UID, written.ResourceVersion = "ns", fmt.Sprint(n), "u", "1"
		written.Status.ServiceURL = strings.Repeat("a", 32<<10)
		memory.remember(written)
	}
	if after := testutil.Heap(); after > before+12<<20 {
		t.Errorf("%d KiB are kept", (after-before)>>10)
	}
	runtime.KeepAlive(memory)
}
