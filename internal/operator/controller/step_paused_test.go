package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestPausedStack checks that the reconcile of a paused stack ends at the step paused, that the message reports a
// pending change to the pods, and that the operator does not write any object.
func TestPausedStack(t *testing.T) {
	const (
		spec    = `{distribution: {name: starter}}`
		changed = `{distribution: {name: starter}, networking: {port: 9000}}`
	)
	paused := func(what string) *status.Failure {
		return &status.Failure{
			Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonDeploymentPaused, Unknown: true,
			Retry: status.OnReferenceChange,
			Message: `The stack is paused: while its annotation llamastack.io/paused is "true", the operator writes only the status` + what +
				". Remove the annotation to continue",
		}
	}
	for name, tc := range map[string]struct {
		annotation string
		runs, spec string
		storage    corev1.PersistentVolumeClaimPhase
		condition  string
		failure    *status.Failure
	}{
		"not paused":        {spec: spec},
		"no longer paused":  {annotation: "false", spec: spec},
		"no Deployment":     {annotation: "true", spec: spec, failure: paused("; the stack has no Deployment yet")},
		"no pending change": {annotation: "true", runs: spec, spec: spec, failure: paused("")},
		"pending change":    {annotation: "true", runs: spec, spec: changed, failure: paused("; a change to the pods is pending")},
		"paused with a volume": {
			annotation: "true", spec: `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`, storage: corev1.ClaimBound,
			condition: "True StorageReady: Storage is ready", failure: paused("; the stack has no Deployment yet"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, own := newFixture(t), testutil.NewStack(t, tc.spec)
			if tc.runs != "" {
				f.applyStack(t, tc.runs)
				own.Generation = 2
			}
			if tc.storage != "" {
				f.createObjects(t, &corev1.PersistentVolumeClaim{
					ObjectMeta: testutil.ChildMeta(own, names.PersistentVolumeClaim("my")),
					Status:     corev1.PersistentVolumeClaimStatus{Phase: tc.storage},
				})
			}
			own.Annotations = map[string]string{names.AnnotationPaused: tc.annotation}
			if tc.annotation == "" {
				own.Annotations = nil
			}
			s, err := f.runSteps(t, own, "paused")
			checkFailure(t, err, tc.failure)
			if diff := cmp.Diff(tc.condition, conditionTexts(&s.report)[v1alpha2.ConditionStorageReady]); diff != "" {
				t.Errorf("condition StorageReady (-want +got):\n%s", diff)
			}
			if len(f.writes) > 0 {
				t.Errorf("writes %v", f.writes)
			}
		})
	}
}
