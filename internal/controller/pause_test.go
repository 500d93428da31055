package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// annotatePaused sets the annotation of a stack; an empty value removes it.
func (b *bench) annotatePaused(t *testing.T, name, value string) {
	t.Helper()
	b.change(t, name, func(stack *v1alpha2.LlamaStackDistribution) {
		delete(stack.Annotations, names.AnnotationPaused)
		if value != "" {
			stack.Annotations = map[string]string{names.AnnotationPaused: value}
		}
	})
}

// TestPaused checks that nothing of a paused stack is written except its status, which shows the actual state of the
// pods, and that all pending changes are made when the stack continues.
func TestPaused(t *testing.T) {
	b := newBench(t)
	b.direct(t, "paused")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [m], shields: [guard]}}`))
	b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.shows(t, "my", picture{v1alpha2.PhaseReady, served, status.CurrentStatus})

	b.annotatePaused(t, "my", "true")
	paused := with(served, ready, "False "+v1alpha2.ReasonDeploymentPaused,
		v1alpha2.ConditionDeploymentUpdated, "Unknown "+v1alpha2.ReasonDeploymentPaused,
		v1alpha2.ConditionReconciling, "True "+v1alpha2.ReasonDeploymentPaused)
	b.shows(t, "my", picture{v1alpha2.PhasePending, paused, status.InProgressStatus})

	service, before := &corev1.Service{}, &appsv1.Deployment{}
	b.get(t, names.Service("my"), service)
	if err := b.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	b.get(t, "my", before)
	b.respec(t, "my", `{distribution: {name: starter}, networking: {port: 9000}, resources: {models: [m], shields: [guard]}}`)
	got := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused)
	if !strings.Contains(got.Message, "a change of the pods is pending. Remove the annotation") {
		t.Errorf("message %q", got.Message)
	}
	b.losesPods(t, "my")

	b.annotatePaused(t, "my", "yes")
	got = b.condition(t, "my", v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonInvalidSpec)
	if want := `metadata.annotations[llamastack.io/paused]: "yes" must be "true" or "false"`; !strings.Contains(got.Message, want) {
		t.Errorf("message %q, want %q in it", got.Message, want)
	}
	after := &appsv1.Deployment{}
	b.get(t, "my", after)
	if diff := cmp.Diff(before.Spec, after.Spec); diff != "" {
		t.Errorf("the Deployment of a paused stack changed (-before +after):\n%s", diff)
	}
	if err := b.Get(t.Context(), b.key(names.Service("my")), service); !apierrors.IsNotFound(err) {
		t.Errorf("the Service of a paused stack is made: %v", err)
	}

	b.annotatePaused(t, "my", "")
	b.appears(t, names.Service("my"), service)
	b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	b.get(t, "my", after)
	if port := after.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort; port != 9000 {
		t.Errorf("the server listens on %d when the stack goes on, want 9000", port)
	}
}

// losesPods removes the pods of a Deployment, and waits until the stack's status shows it.
func (b *bench) losesPods(t *testing.T, name string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	b.get(t, name, deployment)
	deployment.Status.ReadyReplicas, deployment.Status.AvailableReplicas = 0, 0
	if err := b.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		b.get(t, name, stack)
		if stack.Status.AvailableReplicas != 0 {
			return fmt.Errorf("%d replicas are available", stack.Status.AvailableReplicas)
		}
		return nil
	})
	b.condition(t, name, available, v1alpha2.ReasonRolloutInProgress)
}

// TestPausedFromTheStart checks that nothing is created for a stack that is paused from its creation, that an invalid
// spec is reported beside the pause, and that the stack can be deleted.
func TestPausedFromTheStart(t *testing.T) {
	b := newBench(t)
	b.direct(t, "paused")
	stack := b.stack(t, "my", `{distribution: {name: starter}}`)
	stack.Annotations = map[string]string{names.AnnotationPaused: "true"}
	b.create(t, stack)
	b.condition(t, "my", ready, v1alpha2.ReasonDeploymentPaused)
	got := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused)
	if !strings.Contains(got.Message, "its Deployment is not created") {
		t.Errorf("message %q", got.Message)
	}
	b.respec(t, "my", `{distribution: {name: startre}}`)
	b.condition(t, "my", ready, v1alpha2.ReasonUnknownDistribution)
	b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused)
	for name, child := range map[string]client.Object{"my": &appsv1.Deployment{}, names.Service("my"): &corev1.Service{}, names.ServiceAccount("my"): &corev1.ServiceAccount{}} {
		if err := b.Get(t.Context(), b.key(name), child); !apierrors.IsNotFound(err) {
			t.Errorf("%T of a paused stack: %v", child, err)
		}
	}
	if err := b.Delete(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	b.goes(t, "my", &v1alpha2.LlamaStackDistribution{})
}
