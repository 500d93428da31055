package record_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/record"
)

// What an autoscaler left stays until the spec says another number than it did
// while the autoscaler was at work.
func TestReplicasThatAnAutoscalerLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		before     record.Autoscaled
		runs       int32
		spec, want int32
		after      record.Autoscaled
	}{
		"there was none":                 {record.Autoscaled{}, 5, 1, 1, record.Autoscaled{}},
		"it has just gone":               {record.Autoscaled{Spec: 1}, 5, 1, 5, record.Autoscaled{Spec: 1, Count: 5}},
		"it went some time ago":          {record.Autoscaled{Spec: 1, Count: 5}, 3, 1, 5, record.Autoscaled{Spec: 1, Count: 5}},
		"the spec says another number":   {record.Autoscaled{Spec: 1}, 5, 2, 2, record.Autoscaled{}},
		"the spec says another, later":   {record.Autoscaled{Spec: 1, Count: 5}, 5, 3, 3, record.Autoscaled{}},
		"it left what the spec says":     {record.Autoscaled{Spec: 5}, 5, 5, 5, record.Autoscaled{}},
		"it left none, the spec wants 2": {record.Autoscaled{Spec: 2}, 0, 2, 2, record.Autoscaled{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := newStack()
			s.replicas = tc.runs
			w.reconcile(s)
			live := w.live()
			written, _ := record.Parse(live.Annotations)
			written.Autoscaled = tc.before
			text, err := written.Encode()
			if err != nil {
				t.Fatal(err)
			}
			live.Annotations["llamastack.io/rendered"] = text
			s.replicas = tc.spec
			got, err := record.Decide(live, w.sets, s.render(t))
			if err != nil {
				t.Fatal(err)
			}
			if *got.Deployment.Spec.Replicas != tc.want || got.Record.Autoscaled != tc.after {
				t.Errorf("%d replicas, record %+v; want %d, %+v", *got.Deployment.Spec.Replicas, got.Record.Autoscaled, tc.want, tc.after)
			}
		})
	}
}
