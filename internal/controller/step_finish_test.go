package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// Which spec the Deployment is of.
func TestRunsEarlier(t *testing.T) {
	failure := &status.Failure{}
	for name, tc := range map[string]struct {
		failure  *status.Failure
		deployed bool
		running  int64
		outcome  rollout.Outcome
		want     bool
	}{
		"nothing failed":                    {nil, true, 1, rollout.Changed, false},
		"rolled back":                       {nil, true, 2, rollout.RolledBack, true},
		"refused before the Deployment":     {failure, false, 1, "", true},
		"refused after it":                  {failure, true, 1, rollout.Changed, false},
		"something of what runs is gone":    {failure, false, 2, "", false},
		"nobody knows of which spec it was": {failure, false, 0, "", true},
	} {
		object := &v1alpha2.LlamaStackDistribution{}
		object.Generation = 2
		s := &state{stack: object}
		s.workload.running.Generation, s.owned.decision.Outcome = tc.running, tc.outcome
		if tc.deployed {
			s.applied.deployment = &appsv1.Deployment{}
		}
		if got := s.runsEarlier(tc.failure); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
