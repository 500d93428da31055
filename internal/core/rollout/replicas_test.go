package rollout_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// TestReplicasAfterAnAutoscaler checks that the number of replicas that an autoscaler left behind is kept until the
// number in the spec changes.
func TestReplicasAfterAnAutoscaler(t *testing.T) {
	for name, tc := range map[string]struct {
		before     rollout.Autoscaled
		runs       int32
		spec, want int32
		after      rollout.Autoscaled
	}{
		"there was no autoscaler":         {rollout.Autoscaled{}, 5, 1, 1, rollout.Autoscaled{}},
		"the autoscaler was just removed": {rollout.Autoscaled{Spec: 1}, 5, 1, 5, rollout.Autoscaled{Spec: 1, Count: 5}},
		"the autoscaler was removed earlier": {
			rollout.Autoscaled{Spec: 1, Count: 5},
			3, 1, 5,
			rollout.Autoscaled{Spec: 1, Count: 5},
		},
		"the spec changes with the removal":          {rollout.Autoscaled{Spec: 1}, 5, 2, 2, rollout.Autoscaled{}},
		"the spec changes after the removal":         {rollout.Autoscaled{Spec: 1, Count: 5}, 5, 3, 3, rollout.Autoscaled{}},
		"the autoscaler left the number in the spec": {rollout.Autoscaled{Spec: 5}, 5, 5, 5, rollout.Autoscaled{}},
		"the autoscaler left zero replicas":          {rollout.Autoscaled{Spec: 2}, 0, 2, 2, rollout.Autoscaled{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := newStack()
			s.replicas = tc.runs
			w.reconcile(s)
			live := w.live()
			written, _ := rollout.Parse(live.Annotations)
			written.Autoscaled = tc.before
			text, err := written.Encode()
			if err != nil {
				t.Fatal(err)
			}
			live.Annotations["llamastack.io/rendered"] = text
			s.replicas = tc.spec
			got, err := rollout.Decide(live, w.sets, s.render(t))
			if err != nil {
				t.Fatal(err)
			}
			if *got.Deployment.Spec.Replicas != tc.want || got.Record.Autoscaled != tc.after {
				t.Errorf("%d replicas, record %+v; want %d, %+v", *got.Deployment.Spec.Replicas, got.Record.Autoscaled, tc.want,
					tc.after)
			}
		})
	}
}
