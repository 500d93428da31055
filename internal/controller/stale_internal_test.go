package controller

import (
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// A Deployment that does not fit its ReplicaSets is nobody's concern for a moment, and
// told once it lasts.
func TestStaleIsTold(t *testing.T) {
	written := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	live := &appsv1.Deployment{}
	live.CreationTimestamp = metav1.NewTime(written.Add(-time.Hour))
	live.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl-rollout", Time: &metav1.Time{Time: written}}}
	for after, want := range map[time.Duration]status.Retry{time.Second: status.Quiet, 2 * time.Minute: status.Backoff} {
		r := &Reconciler{now: func() time.Time { return written.Add(after) }}
		failure, ok := errors.AsType[*status.Failure](r.stale("they do not fit", live))
		if !ok || failure.Retry != want || failure.Unknown != (want == status.Backoff) || failure.Message != "they do not fit" {
			t.Errorf("%s after the last write: %+v, want retry %v", after, failure, want)
		}
	}
}

// Nothing that a pod may need goes while nobody knows the Deployment.
func TestTemplatesWithoutADeployment(t *testing.T) {
	w := &workload{replicaSets: []appsv1.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{Name: "my-1"}}}}
	if got := w.revisions(); len(got) != 1 || got[0].Name != "my-1" {
		t.Errorf("templates %+v, want those of the ReplicaSet", got)
	}
}
