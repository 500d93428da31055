package controller_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

func TestFirstStack(t *testing.T) {
	b := newBench(t)
	b.start(t, "first")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.get(t, "my", &appsv1.Deployment{})
	b.get(t, "my-service", &corev1.Service{})
	b.get(t, "my-sa", &corev1.ServiceAccount{})
	b.rollOut(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	if diff := cmp.Diff(v1alpha2.PhaseReady, stack.Status.Phase); diff != "" {
		t.Error(diff)
	}
}
