package status_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

func rolling(d *appsv1.Deployment, maxUnavailable intstr.IntOrString) *appsv1.Deployment {
	d.Spec.Strategy = appsv1.DeploymentStrategy{
		Type:          appsv1.RollingUpdateDeploymentStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &maxUnavailable},
	}
	return d
}

// TestPhaseDuringAChange checks that the phase is Ready during a rollout if the Deployment has had an earlier
// configuration and has its minimum number of available pods. It also checks that the phase does not change until the
// end of the rollout.
func TestPhaseDuringAChange(t *testing.T) {
	quarter := intstr.FromString("25%")
	older, newer := replicaSet("old", "1", 0), replicaSet("new", "2", 0)
	first, before, both := []appsv1.ReplicaSet{newer}, []appsv1.ReplicaSet{older}, []appsv1.ReplicaSet{older, newer}
	const starts, serves = v1alpha2.PhaseInitializing, v1alpha2.PhaseReady
	for name, tc := range map[string]struct {
		deployment *appsv1.Deployment
		sets       []appsv1.ReplicaSet
		want       v1alpha2.Phase
	}{
		"most pods of a first rollout":    {rolling(deployment(4, 4, 4, 3), quarter), first, starts},
		"not seen yet":                    {staleDeployment(), before, serves},
		"the new ReplicaSet is not known": {rolling(deployment(1, 2, 1, 1), quarter), before, serves},
		"the old pod serves":              {rolling(deployment(1, 2, 1, 1), quarter), both, serves},
		"the last new pod starts":         {rolling(deployment(4, 4, 4, 3), quarter), both, serves},
		"two of four are missing":         {rolling(deployment(4, 5, 2, 2), quarter), both, starts},
		"the old pod has ended":           {deployment(1, 1, 1, 0), both, starts},
	} {
		t.Run(name, func(t *testing.T) {
			seen := status.Workload(status.WorkloadInput{Deployment: tc.deployment, ReplicaSets: tc.sets})
			if seen.Available.Reason != v1alpha2.ReasonRolloutInProgress {
				t.Fatalf("the rollout is not in progress: %+v", seen.Available)
			}
			got := status.Summarize(status.Input{
				Now: now, Observed: with(healthy(), seen.Available), Serving: seen.Serving, Earlier: seen.Earlier,
			})
			if got.Phase != tc.want {
				t.Errorf("phase %s, want %s", got.Phase, tc.want)
			}
			if meta.IsStatusConditionTrue(got.Conditions, v1alpha2.ConditionReady) {
				t.Error("the stack is ready during a rollout")
			}
		})
	}
}

// TestPhaseOfATriedChange checks the phase while the operator is testing a change in a separate pod.
func TestPhaseOfATriedChange(t *testing.T) {
	for serving, want := range map[bool]v1alpha2.Phase{true: v1alpha2.PhaseReady, false: v1alpha2.PhaseInitializing} {
		got := status.Summarize(status.Input{
			Now: now, Observed: healthy(), Serving: serving, Failure: &status.Failure{
				Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonPreflightInProgress,
				Retry: status.OnReferenceChange, Unknown: true,
			},
		})
		if got.Phase != want {
			t.Errorf("serving %t: phase %s, want %s", serving, got.Phase, want)
		}
	}
}
