package status_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

var (
	earlier = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	now     = metav1.NewTime(earlier.Add(time.Hour))
)

func condition(name string, state metav1.ConditionStatus, reason string) metav1.Condition {
	return metav1.Condition{Type: name, Status: state, Reason: reason, Message: reason + " message"}
}

// healthy returns the conditions that a reconcile of a running stack observes.
func healthy() []metav1.Condition {
	return []metav1.Condition{
		condition(v1alpha2.ConditionValidationSucceeded, metav1.ConditionTrue, v1alpha2.ReasonSpecValid),
		condition(v1alpha2.ConditionSecretsResolved, metav1.ConditionTrue, v1alpha2.ReasonNoSecretsReferenced),
		condition(v1alpha2.ConditionConfigGenerated, metav1.ConditionTrue, v1alpha2.ReasonDistributionDefaultUsed),
		condition(v1alpha2.ConditionDeploymentUpdated, metav1.ConditionTrue, v1alpha2.ReasonDeploymentUpdateSucceeded),
		condition(v1alpha2.ConditionAvailable, metav1.ConditionTrue, v1alpha2.ReasonMinimumReplicasAvailable),
	}
}

func with(conditions []metav1.Condition, replacements ...metav1.Condition) []metav1.Condition {
	for _, replacement := range replacements {
		meta.SetStatusCondition(&conditions, replacement)
	}
	return conditions
}

// brief returns conditions in the form that the tables below use.
func brief(conditions []metav1.Condition) map[string]string {
	lines := make(map[string]string, len(conditions))
	for _, c := range conditions {
		lines[c.Type] = string(c.Status) + " " + c.Reason
	}
	return lines
}

var (
	secretNotFound = &status.Failure{
		Condition: v1alpha2.ConditionSecretsResolved, Reason: v1alpha2.ReasonSecretNotFound,
		Message: "Secret \"a\" not found", Retry: status.OnReferenceChange,
	}
	childInvalid = &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonDeploymentUpdateFailed,
		Message: "Deployment.apps \"x\" is invalid", Retry: status.Invalid,
	}
	specInvalid = &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonInvalidSpec,
		Message: "spec.x: wrong", Retry: status.OnObjectChange,
	}
)

// summarizeCases are the cases of TestSummarize.
var summarizeCases = []struct {
	name  string
	in    status.Input
	phase v1alpha2.Phase
	want  map[string]string
}{
	{
		name: "every condition is True", in: status.Input{Observed: healthy()}, phase: v1alpha2.PhaseReady,
		want: merged(brief(healthy()), map[string]string{"Ready": "True MinimumReplicasAvailable"}),
	},
	{
		name: "the rollout continues",
		in: status.Input{Observed: with(healthy(),
			condition(v1alpha2.ConditionAvailable, metav1.ConditionFalse, v1alpha2.ReasonRolloutInProgress))},
		phase: v1alpha2.PhaseInitializing,
		want: merged(brief(healthy()), map[string]string{
			"Ready": "False RolloutInProgress", "Available": "False RolloutInProgress", "Reconciling": "True RolloutInProgress",
		}),
	},
	{
		name:  "invalid spec of a new object",
		in:    status.Input{Failure: specInvalid},
		phase: v1alpha2.PhaseFailed,
		want: map[string]string{
			"Ready": "False InvalidSpec", "ValidationSucceeded": "False InvalidSpec", "Stalled": "True InvalidSpec",
			"SecretsResolved": "Unknown Waiting", "ConfigGenerated": "Unknown Waiting",
			"DeploymentUpdated": "Unknown Waiting", "Available": "Unknown Waiting",
		},
	},
	{
		name:  "the API server rejects a field of a child",
		in:    status.Input{Observed: healthy()[:3], Failure: childInvalid},
		phase: v1alpha2.PhaseFailed,
		want: merged(brief(healthy()[:3]), map[string]string{
			"Ready": "False DeploymentUpdateFailed", "DeploymentUpdated": "False DeploymentUpdateFailed",
			"Stalled": "True DeploymentUpdateFailed", "Available": "Unknown Waiting",
		}),
	},
	{
		name: "a Secret is deleted while the stack runs",
		in: status.Input{
			Previous: healthy(), Failure: secretNotFound,
			Observed: []metav1.Condition{
				healthy()[0], healthy()[4],
				condition(v1alpha2.ConditionDegraded, metav1.ConditionTrue, v1alpha2.ReasonSecretChangedToInvalid),
			},
		},
		phase: v1alpha2.PhasePending,
		want: merged(brief(healthy()), map[string]string{
			"Ready": "False SecretNotFound", "SecretsResolved": "False SecretNotFound", "Reconciling": "True SecretNotFound",
			"Degraded": "True SecretChangedToInvalid",
		}),
	},
	{
		name: "conditions that a newer generation has not reached are Unknown",
		in: status.Input{
			Generation: 2, Previous: healthy(), Failure: secretNotFound, Observed: []metav1.Condition{healthy()[0]},
		},
		phase: v1alpha2.PhasePending,
		want: map[string]string{
			"Ready": "False SecretNotFound", "SecretsResolved": "False SecretNotFound", "Reconciling": "True SecretNotFound",
			"ValidationSucceeded": "True SpecValid", "ConfigGenerated": "Unknown Waiting",
			"DeploymentUpdated": "Unknown Waiting", "Available": "Unknown Waiting",
		},
	},
	{
		name: "rolled back by a user",
		in: status.Input{Observed: with(healthy(),
			condition(v1alpha2.ConditionDegraded, metav1.ConditionTrue, v1alpha2.ReasonRolledBack))},
		phase: v1alpha2.PhaseFailed,
		want: merged(brief(healthy()), map[string]string{
			"Ready": "False RolledBack", "Degraded": "True RolledBack", "Stalled": "True RolledBack",
		}),
	},
	{
		name: "pods crash",
		in: status.Input{Observed: with(healthy(),
			condition(v1alpha2.ConditionAvailable, metav1.ConditionFalse, v1alpha2.ReasonRolloutFailed))},
		phase: v1alpha2.PhaseFailed,
		want: merged(brief(healthy()), map[string]string{
			"Ready": "False RolloutFailed", "Available": "False RolloutFailed", "Reconciling": "True RolloutFailed",
		}),
	},
	{
		name: "pods crash past the deadline",
		in: status.Input{Overdue: true, Observed: with(healthy(),
			condition(v1alpha2.ConditionAvailable, metav1.ConditionFalse, v1alpha2.ReasonRolloutFailed))},
		phase: v1alpha2.PhaseFailed,
		want: merged(brief(healthy()), map[string]string{
			"Ready": "False RolloutFailed", "Available": "False RolloutFailed", "Stalled": "True RolloutFailed",
		}),
	},
	{
		name: "a Secret is deleted after the deadline",
		in: status.Input{Overdue: true, Failure: secretNotFound, Previous: healthy(), Observed: with(healthy(),
			condition(v1alpha2.ConditionAvailable, metav1.ConditionFalse, v1alpha2.ReasonRolloutFailed))},
		phase: v1alpha2.PhasePending,
		want: merged(brief(healthy()), map[string]string{
			"Ready": "False SecretNotFound", "SecretsResolved": "False SecretNotFound", "Available": "False RolloutFailed",
			"Reconciling": "True SecretNotFound",
		}),
	},
	{
		name: "another stack has the host name",
		in: status.Input{Previous: healthy(), Observed: healthy(), Failure: &status.Failure{
			Condition: v1alpha2.ConditionExposed, Reason: v1alpha2.ReasonHostnameTaken, Retry: status.OnReferenceChange,
		}},
		phase: v1alpha2.PhasePending,
		want: merged(brief(healthy()), map[string]string{
			"Ready": "False HostnameTaken", "Exposed": "False HostnameTaken", "Reconciling": "True HostnameTaken",
		}),
	},
	{
		name:  "deleted",
		in:    status.Input{Observed: healthy(), Deleting: true},
		phase: v1alpha2.PhaseTerminating,
		want:  merged(brief(healthy()), map[string]string{"Ready": "True MinimumReplicasAvailable"}),
	},
	{
		name: "past conditions are removed when they are not set",
		in: status.Input{
			Observed: healthy(),
			Previous: []metav1.Condition{
				condition(v1alpha2.ConditionDegraded, metav1.ConditionTrue, v1alpha2.ReasonRolledBack),
				condition(v1alpha2.ConditionStalled, metav1.ConditionTrue, v1alpha2.ReasonInvalidSpec),
				condition(v1alpha2.ConditionAdopted, metav1.ConditionFalse, v1alpha2.ReasonRenderingDiffers),
				condition(v1alpha2.ConditionStorageReady, metav1.ConditionTrue, v1alpha2.ReasonStorageReady),
				condition(v1alpha2.ConditionExposed, metav1.ConditionTrue, v1alpha2.ReasonExposureApplied),
			},
		},
		phase: v1alpha2.PhaseReady,
		want:  merged(brief(healthy()), map[string]string{"Ready": "True MinimumReplicasAvailable"}),
	},
}

func TestSummarize(t *testing.T) {
	for _, tc := range summarizeCases {
		t.Run(tc.name, func(t *testing.T) {
			tc.in.Now = now
			got := status.Summarize(tc.in)
			if diff := cmp.Diff(tc.want, brief(got.Conditions)); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
			if got.Phase != tc.phase {
				t.Errorf("phase %q, want %q", got.Phase, tc.phase)
			}
		})
	}
}

func merged(base, more map[string]string) map[string]string {
	maps.Copy(base, more)
	return base
}

// TestSummarizeDates checks that the transition time of a condition changes only if its status changes, not if its
// generation or message changes.
func TestSummarizeDates(t *testing.T) {
	first := status.Summarize(status.Input{Generation: 1, Observed: healthy(), Now: earlier})
	again := status.Summarize(status.Input{Generation: 1, Observed: healthy(), Previous: first.Conditions, Now: now})
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same observation results in another status:\n%s", diff)
	}

	broken := with(healthy(), condition(v1alpha2.ConditionAvailable, metav1.ConditionFalse,
		v1alpha2.ReasonRolloutInProgress))
	next := status.Summarize(status.Input{Generation: 2, Observed: broken, Previous: first.Conditions, Now: now})
	for _, c := range next.Conditions {
		moved := c.Type == v1alpha2.ConditionReady || c.Type == v1alpha2.ConditionAvailable ||
			c.Type == v1alpha2.ConditionReconciling
		if want := map[bool]metav1.Time{true: now, false: earlier}[moved]; !c.LastTransitionTime.Equal(&want) {
			t.Errorf("%s: lastTransitionTime %v, want %v", c.Type, c.LastTransitionTime, want)
		}
		if c.ObservedGeneration != 2 {
			t.Errorf("%s: observedGeneration %d, want 2", c.Type, c.ObservedGeneration)
		}
	}
	if next.Conditions[0].Type != v1alpha2.ConditionReady {
		t.Errorf("first condition is %s, want Ready", next.Conditions[0].Type)
	}
}

func TestSummarizeDoesNotChangeItsInput(t *testing.T) {
	observed, previous := healthy(), healthy()
	status.Summarize(status.Input{
		Generation: 3, Observed: observed, Previous: previous, Now: now,
		Failure: &status.Failure{Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonInvalidSpec},
	})
	if diff := cmp.Diff(healthy(), observed); diff != "" {
		t.Errorf("observed changed:\n%s", diff)
	}
	if diff := cmp.Diff(healthy(), previous); diff != "" {
		t.Errorf("previous changed:\n%s", diff)
	}
}

// TestKnown checks that conditions are removed if an older operator stored them and this operator does not write their
// types.
func TestKnown(t *testing.T) {
	stored := healthy()
	for _, name := range []string{"DeploymentReady", "HealthCheck", "ServiceReady", "ConfigReady"} {
		stored = append(stored, condition(name, metav1.ConditionTrue, "Old"))
	}
	stored = append(stored, condition(v1alpha2.ConditionDegraded, metav1.ConditionTrue, v1alpha2.ReasonRolledBack))
	want := append(healthy(), condition(v1alpha2.ConditionDegraded, metav1.ConditionTrue, v1alpha2.ReasonRolledBack))
	if diff := cmp.Diff(want, status.Known(stored)); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	every := status.Summarize(status.Input{Now: now, Observed: want, Previous: status.Known(stored)}).Conditions
	if diff := cmp.Diff(every, status.Known(every)); diff != "" {
		t.Errorf("Known removes a condition that the operator writes:\n%s", diff)
	}
}

// TestSummarizeLongMessages checks that messages have at most as many bytes as the API admits characters, because the
// API server would otherwise reject the whole status, and because the cache holds the messages of all stacks.
func TestSummarizeLongMessages(t *testing.T) {
	long := strings.Repeat("ä", 30000)
	got := status.Summarize(status.Input{Now: now, Failure: &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonInvalidSpec, Message: long,
		Retry: status.OnObjectChange,
	}})
	for _, c := range got.Conditions {
		if n := len(c.Message); n > 32768 || c.Type == v1alpha2.ConditionValidationSucceeded && n < 32764 {
			t.Errorf("%s: message of %d bytes", c.Type, n)
		}
	}
}
