package plan_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// TestLimitsOfWorkers checks pods whose limits equal their requests because they have workers. The pods keep these
// limits, and the limits do not cause a rollout.
func TestLimitsOfWorkers(t *testing.T) {
	const spec = "overrideConfig: {configMapName: mine}\nworkload: {workers: 4, resources: {requests: {cpu: 2}, limits: {nvidia.com/gpu: 1}}}\n"
	files := map[string][]byte{"config.yaml": []byte("distro_name: a\nproviders: {}\n")}
	in := marked(t, spec, files)
	free := build(t, in)
	in.Running.Record.Limited = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	kept := build(t, in)
	limits := *container(t, kept).Resources.Limits
	cpu, memory := limits[corev1.ResourceCPU], limits[corev1.ResourceMemory]
	if len(limits) != 3 || cpu.String() != "2" || memory.String() != "1Gi" {
		t.Errorf("limits %v", limits)
	}
	if got := *container(t, free).Resources.Limits; len(got) != 1 || len(in.Object.Spec.Workload.Resources.Limits) != 1 {
		t.Errorf("limits %v, and %v in the spec", got, in.Object.Spec.Workload.Resources.Limits)
	}
	was, is := free.Rendered.Record, kept.Rendered.Record
	if was.Inputs != is.Inputs || !slices.Equal(is.Limited, in.Running.Record.Limited) || was.Limited != nil {
		t.Errorf("inputs %s and %s, limited %v and %v", was.Inputs, is.Inputs, was.Limited, is.Limited)
	}
	delete(in.Object.Annotations, names.AnnotationCompat)
	if got := *container(t, build(t, in)).Resources.Limits; len(got) != 1 {
		t.Errorf("limits %v without the compatibility annotation, want only the limit of the spec", got)
	}
}
