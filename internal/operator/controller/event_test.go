package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

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
		found       []event // events from the steps
		want        []string
	}{
		"nothing changed":      {before: newStatus("a"), now: newStatus("a")},
		"new configuration":    {before: empty, now: newStatus("a"), want: []string{"Normal ConfigGenerated Generated config.yaml in ConfigMap a"}},
		"missing Secret":       {before: newStatus(""), now: newStatus("", missing), want: []string{"Warning SecretResolutionFailed no Secret"}},
		"still missing Secret": {before: newStatus("", missing), now: newStatus("", missing)},
		"new pending change": {
			before: newStatus(""), now: newStatus("", waits),
			want: []string{"Warning DataLossNotAccepted lost"},
		},
		"still pending change": {before: newStatus("", waits), now: newStatus("", waits)},
		"warnings come first": {
			before: empty, now: newStatus("a"),
			found: []event{
				{"Normal", "DeploymentUpdated", "x"},
				{"Warning", "ProviderIgnored", "y"},
				{"Warning", "ConfigWarning", "z"},
			},
			want: []string{"Warning ProviderIgnored y", "Warning ConfigWarning z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := events.NewFakeRecorder(10)
			own := &stack{Status: *tc.now}
			(&Reconciler{recorder: recorder}).emit(own, tc.found, tc.before, "note")
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
