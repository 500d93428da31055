package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestStaleDeploymentIsReported checks that a Deployment that does not match its ReplicaSets causes a quiet failure at
// first, and that the status reports the failure if it persists.
func TestStaleDeploymentIsReported(t *testing.T) {
	written := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	live := &appsv1.Deployment{}
	live.CreationTimestamp = metav1.NewTime(written.Add(-time.Hour))
	live.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-rollout", Time: &metav1.Time{Time: written}}}
	for after, want := range map[time.Duration]status.Retry{time.Second: status.Quiet, 2 * time.Minute: status.Backoff} {
		r := &Reconciler{now: func() time.Time { return written.Add(after) }}
		failure, ok := errors.AsType[*status.Failure](r.stale("the objects do not match", live))
		if !ok || failure.Retry != want || failure.Unknown != (want == status.Backoff) ||
			failure.Message != "the objects do not match" {
			t.Errorf("%s after the last write: %+v, want retry %v", after, failure, want)
		}
	}
}

// TestReportDecision checks that a kept template and a rollback are reported, and that the event about a rollback is
// not repeated.
func TestReportDecision(t *testing.T) {
	rolledBack := []metav1.Condition{{Type: v1alpha2.ConditionDegraded, Reason: v1alpha2.ReasonRolledBack}}
	for name, tc := range map[string]struct {
		outcome   rollout.Outcome
		before    []metav1.Condition
		condition string
		events    []string
	}{
		"kept template": {outcome: rollout.KeepTemplate, condition: "Adopted False RenderingDiffers"},
		"rollback": {
			outcome: rollout.RolledBack, condition: "Degraded True RolledBack",
			events: []string{"Warning " + v1alpha2.EventRolledBack + ": why"},
		},
		"earlier rollback": {outcome: rollout.RolledBack, before: rolledBack, condition: "Degraded True RolledBack"},
		"change":           {outcome: rollout.Changed},
	} {
		own, report := &stack{}, &report.Report{}
		own.Status.Conditions = tc.before
		reportDecision(own, rollout.Decision{Outcome: tc.outcome, Message: "why"}, report)
		got := ""
		for _, c := range report.Conditions {
			got += c.Type + " " + string(c.Status) + " " + c.Reason
		}
		if diff := cmp.Diff(tc.events, eventTexts(report)); diff != "" || got != tc.condition {
			t.Errorf("%s: condition %q, want %q; events (-want +got):\n%s", name, got, tc.condition, diff)
		}
	}
}

func TestObjectsOfAnotherOwner(t *testing.T) {
	other := errors.New("other")
	if got := notOurs(other); !errors.Is(got, other) {
		t.Errorf("notOurs(%v) = %v", other, got)
	}
	for _, err := range []error{
		&apply.OwnershipConflict{Kind: "Service", Name: "x"},
		&apply.OwnershipConflict{Kind: "ConfigMap", Name: "x", Differs: true},
	} {
		failure, ok := errors.AsType[*status.Failure](notOurs(errors.Join(err)))
		if !ok || failure.Reason != v1alpha2.ReasonOwnershipConflict || failure.Retry != status.Later ||
			failure.Message != err.Error() {
			t.Errorf("notOurs(%v) = %+v", err, failure)
		}
	}
}

// TestOwnershipOfChildren checks that an object that belongs to another owner is reported with the remedy, and that no
// object is written.
func TestOwnershipOfChildren(t *testing.T) {
	const remedy = `%[1]s "%[2]s" in namespace "team" exists and has neither a controller nor the labels of the stack; ` +
		`delete this %[1]s, or create the stack with another name`
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "my-service"}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "my-sa"}}
	retained := service.DeepCopy()
	retained.Labels = names.Labels("my")
	for name, tc := range map[string]struct {
		objects []client.Object
		message string
	}{
		"no objects": {},
		"two objects without a controller": {
			[]client.Object{service, account},
			fmt.Sprintf(remedy, "ServiceAccount", "my-sa") + "\n" + fmt.Sprintf(remedy, "Service", "my-service"),
		},
		"retained Service with the stack's labels": {[]client.Object{retained}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, tc.objects...)
			s, err := f.runSteps(t, testutil.NewStack(t, `{distribution: {name: starter}}`), "ownership")
			var want *status.Failure
			if tc.message != "" {
				want = &status.Failure{
					Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonOwnershipConflict, Message: tc.message,
					Retry: status.Later,
				}
			}
			checkFailure(t, err, want)
			if err == nil && (s.owned.decision.Outcome != rollout.Changed || s.owned.deployment() < 0) {
				t.Errorf("decision %q, Deployment at %d", s.owned.decision.Outcome, s.owned.deployment())
			}
			if len(f.writes) > 0 {
				t.Errorf("writes %v", f.writes)
			}
		})
	}
}

// TestAdoption checks that an object with the stack's labels and without a controller is adopted, and that an event
// reports this.
func TestAdoption(t *testing.T) {
	own := testutil.NewStack(t, `{distribution: {name: starter}}`)
	f := newFixture(t, &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "my-sa", Labels: names.ChildSelector("my")},
	})
	s, err := f.runSteps(t, own, "apply")
	want := "Normal " + v1alpha2.EventAdopted + `: Adopted ServiceAccount "my-sa", which had no controller`
	if got := eventTexts(&s.report); err != nil || len(got) == 0 || !strings.HasPrefix(got[0], want) {
		t.Errorf("error %v, events %q, want first %q", err, got, want)
	}
}

// TestDecisionWithAStaleCache checks that the operator waits for its cache if the record has a newer generation than
// the cached stack. It does not wait if the API server has no newer generation either.
func TestDecisionWithAStaleCache(t *testing.T) {
	const spec = `{distribution: {name: starter}}`
	for name, tc := range map[string]struct {
		newest  int64 // generation at the API server
		failure *status.Failure
	}{
		"the cache lags behind": {3, &status.Failure{
			Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonProgressing, Retry: status.Quiet,
			Message: "the operator has already rendered generation 3, and is waiting until its cache contains this generation",
		}},
		"the cache is current": {2, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			written := testutil.NewStack(t, `{distribution: {name: starter}, networking: {port: 9000}}`)
			written.Generation = 3
			if _, err := f.runSteps(t, written, "apply"); err != nil {
				t.Fatal(err)
			}
			known := testutil.NewStack(t, spec)
			known.Generation = tc.newest
			f.createObjects(t, known)
			cached := testutil.NewStack(t, spec)
			cached.Generation = 2
			_, err := f.runSteps(t, cached, "ownership")
			checkFailure(t, err, tc.failure)
		})
	}
}
