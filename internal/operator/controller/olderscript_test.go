package controller

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// applyOlderRendering applies a stack as an earlier operator rendered it. The function `older` changes the rendering to
// the earlier operator's rendering.
func (f *fixture) applyOlderRendering(
	t *testing.T, stack *stack, older func(*appsv1ac.DeploymentApplyConfiguration),
) *corev1.PodTemplateSpec {
	t.Helper()
	s, err := f.runSteps(t, stack, "ownership")
	testutil.Must(t, err)
	rendered := s.planned.Plan.Rendered
	older(rendered.Deployment)
	rendered, err = rollout.NewRendered(rendered.Deployment, rendered.Record)
	testutil.Must(t, err)
	s.owned.decision.Record = rendered.Record
	testutil.Must(t, s.owned.setDeployment(rendered.Deployment))
	for _, step := range steps[slices.IndexFunc(steps, func(s step) bool { return s.name == "apply" }):] {
		if err := step.run(t.Context(), f.Reconciler, s); err != nil {
			t.Fatalf("step %s: %v", step.name, err)
		}
	}
	return f.podTemplate(t, stack)
}

// podTemplate returns the pod template of a stack's Deployment.
func (f *fixture) podTemplate(t *testing.T, stack *stack) *corev1.PodTemplateSpec {
	t.Helper()
	deployment := &appsv1.Deployment{}
	testutil.Must(t, f.Get(t.Context(), keyOf(stack), deployment))
	return &deployment.Spec.Template
}

// newV1alpha1Stack returns a stack that was created as v1alpha1.
func newV1alpha1Stack(t *testing.T, spec string) *stack {
	t.Helper()
	object := testutil.NewStack(t, spec)
	object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	return object
}

// TestUpgradeRestartsNoOlderStack checks that pods keep the start script for a userConfig and the value of
// enableServiceLinks that an earlier operator rendered, until the user changes the spec.
func TestUpgradeRestartsNoOlderStack(t *testing.T) {
	const spec = `{distribution: {name: starter}, overrideConfig: {configMapName: mine}`
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "mine"}, Data: map[string]string{names.ConfigFile: "distro_name: mine\nproviders: {}\n"},
	}
	const before, since = "0.2.1[0-6])", "0.2.1[0-6] | 0.2.1[0-6][!0-9]*)"
	f := newFixture(t, config)
	older := newV1alpha1Stack(t, spec+"}")
	was := f.applyOlderRendering(t, older, func(deployment *appsv1ac.DeploymentApplyConfiguration) {
		pod := deployment.Spec.Template.Spec.WithEnableServiceLinks(false)
		script := &pod.Containers[0].Command[2]
		if !strings.Contains(*script, since) {
			t.Fatalf("the script does not contain %q: %s", since, *script)
		}
		*script = strings.Replace(*script, since, before, 1)
	})
	s, err := f.runSteps(t, newV1alpha1Stack(t, spec+"}"), "apply")
	if err != nil || s.owned.decision.Outcome != rollout.KeepTemplate {
		t.Errorf("the decision is %s, error %v", s.owned.decision.Outcome, err)
	}
	if diff := cmp.Diff(was, f.podTemplate(t, s.stack)); diff != "" {
		t.Errorf("the pods are replaced:\n%s", diff)
	}
	if f.describe(s); s.stack.Status.ResolvedDistribution.ImageFrom != v1alpha2.ImageFromCatalogue {
		t.Errorf("the status does not show that the pods run the image of the catalog: %+v", s.stack.Status.ResolvedDistribution)
	}
	edited := newV1alpha1Stack(t, spec+`, workload: {workers: 2}}`)
	edited.Generation++
	if _, err := f.runSteps(t, edited, "apply"); err != nil {
		t.Fatal(err)
	}
	now := f.podTemplate(t, edited)
	if script := now.Spec.Containers[0].Command[2]; !strings.Contains(script, since) ||
		now.Spec.EnableServiceLinks != nil {
		t.Errorf("after a change: enableServiceLinks %v, script %s", now.Spec.EnableServiceLinks, script)
	}
}
