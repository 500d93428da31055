package rollout_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// takeOverFields takes over the fields of an operator for v1alpha1, as the controller does before a decision.
func (w *world) takeOverFields() {
	w.t.Helper()
	live := w.live()
	if live == nil {
		return
	}
	owner := apply.Owner{
		Predecessors: []metav1.ManagedFieldsEntry{
			{Manager: name, Operation: metav1.ManagedFieldsOperationApply},
			{Manager: olderOperator, Operation: metav1.ManagedFieldsOperationUpdate},
		},
		Mark: apply.Mark{Kind: "Deployment", Annotation: names.AnnotationRendered, Value: rollout.ByPredecessor},
	}
	if err := apply.TakeOver("Deployment", live, owner, names.FieldManager); err != nil {
		w.t.Fatal(err)
	}
	if live.Annotations[names.AnnotationRendered] != rollout.ByPredecessor {
		return
	}
	if err := w.deployments.Update(deploymentsResource, live, namespace,
		metav1.UpdateOptions{FieldManager: names.FieldManager}); err != nil {
		w.t.Fatal(err)
	}
}

// olderApplies acts as the operator for v1alpha1: it applies its rendering over the existing Deployment.
func (w *world) olderApplies(s stack) {
	w.t.Helper()
	labels := names.Selector(name)
	deployment := appsv1ac.Deployment(name, namespace).WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(s.replicas).WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).
			WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().
				WithName(names.Container).WithImage(s.image).
				WithEnv(corev1ac.EnvVar().WithName("HABIT").WithValue("older"))))))
	w.apply(name, deployment)
	w.sync()
}

// olderReplaces acts as the operator for v1alpha1: it replaces the Deployment with its rendering.
func (w *world) olderReplaces(s stack) {
	w.t.Helper()
	w.edit(olderOperator, func(live *appsv1.Deployment) {
		container := &live.Spec.Template.Spec.Containers[0]
		live.Annotations, live.Labels, live.Spec.Template.Annotations, live.Spec.Replicas = nil, nil, nil, &s.replicas
		container.Image, container.Env[0].Value = s.image, "older"
	})
}

// TestDecideAfterThePredecessor checks that, when a user goes back to the operator for v1alpha1 and then installs this
// operator again, this operator keeps the pods of the operator for v1alpha1 until the stack changes. Templates that
// this operator wrote are treated as usual.
func TestDecideAfterThePredecessor(t *testing.T) {
	written := map[string]func(*world, stack){"applied": (*world).olderApplies, "replaced": (*world).olderReplaces}
	for how, older := range written {
		writes := func(s stack) func(*world) { return func(w *world) { older(w, s) } }
		for name, steps := range olderSteps(writes) {
			t.Run(name+", "+how, func(t *testing.T) { play(t, steps) })
		}
	}
}

// TestSmallWritesOfThePredecessor checks that this operator still reverts edits after the predecessor's field manager
// has made a change that does not replace the template.
func TestSmallWritesOfThePredecessor(t *testing.T) {
	same := map[string]func(*appsv1.Deployment){
		"another number of replicas": func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(5)) },
		"an annotation":              func(d *appsv1.Deployment) { d.Spec.Template.Annotations["injected"] = "yes" },
	}
	for what, write := range same {
		t.Run(what+" by the predecessor's field manager", func(t *testing.T) {
			w := newWorld(t)
			w.reconcile(one)
			w.edit(olderOperator, write)
			w.edit(kubectlEdit, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "evil" })
			if got := w.reconcile(one); got.Outcome != rollout.Unchanged || w.image() != one.image ||
				*w.live().Spec.Replicas != one.replicas {
				t.Errorf("outcome %s, image %q, %d replicas", got.Outcome, w.image(), *w.live().Spec.Replicas)
			}
		})
	}
}

// olderSteps are the cases of TestDecideAfterThePredecessor. The predecessor writes the given stack.
func olderSteps(writes func(stack) func(*world)) map[string][]step {
	back := two.change(func(s *stack) { s.image = one.image })
	again := three.change(func(s *stack) { s.image = two.image })
	edits := func(w *world) {
		w.edit(kubectlEdit, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Image = "evil"
			delete(d.Spec.Template.Annotations, names.AnnotationInputs)
		})
	}
	return map[string][]step{
		"the predecessor's pods stay until a change": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{
				happens: writes(one), stack: one, want: rollout.KeepTemplate, rollouts: 2, habit: "older",
				message: "updates these fields: spec.containers[llama-stack].env[HABIT].value",
			},
			{stack: one, want: rollout.KeepTemplate, rollouts: 2, habit: "older"},
			{stack: scaled(one), want: rollout.KeepTemplate, rollouts: 2, habit: "older"},
			{stack: two, want: rollout.Changed, rollouts: 3, habit: "old", image: "server:2"},
			{stack: two, want: rollout.Unchanged, rollouts: 3},
		},
		"the predecessor's pods stay if it applied a change of the spec": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{happens: writes(two), stack: two, want: rollout.KeepTemplate, rollouts: 2, habit: "older", image: "server:2"},
			{stack: three, want: rollout.Changed, rollouts: 3, habit: "old", image: "server:3"},
		},
		"a return to an image that this operator ran is a change": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{happens: writes(two), stack: two, want: rollout.KeepTemplate, rollouts: 2},
			{stack: back, want: rollout.Changed, rollouts: 3, habit: "old", image: "server:1"},
		},
		"the predecessor's pods stay if it rolled out an image twice": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{
				happens: func(w *world) { writes(two)(w); writes(three)(w); writes(two)(w) }, stack: again,
				want: rollout.KeepTemplate, rollouts: 4, habit: "older", image: "server:2",
			},
			{stack: again, want: rollout.KeepTemplate, rollouts: 4},
		},
		"a restart applies the rendered template": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{happens: writes(one), stack: one, want: rollout.KeepTemplate, rollouts: 2},
			{happens: func(w *world) { w.restart("monday") }, stack: one, want: rollout.Changed, adopts: true, rollouts: 4, habit: "old"},
		},
		"the user goes back twice": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{happens: writes(one), stack: one, want: rollout.KeepTemplate, rollouts: 2},
			{stack: two, want: rollout.Changed, rollouts: 3},
			{happens: writes(two), stack: two, want: rollout.KeepTemplate, rollouts: 4, habit: "older"},
			{stack: three, want: rollout.Changed, rollouts: 5, habit: "old"},
		},
		"this operator never created pods": {
			{happens: func(w *world) { w.older(one) }, stack: one, want: rollout.KeepTemplate, rollouts: 1},
			{happens: writes(one), stack: one, want: rollout.KeepTemplate, rollouts: 1, habit: "older"},
			{stack: two, want: rollout.Changed, rollouts: 2, habit: "old"},
		},
		"an edit after a change is reverted": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{happens: writes(one), stack: one, want: rollout.KeepTemplate, rollouts: 2},
			{stack: two, want: rollout.Changed, rollouts: 3},
			{happens: edits, stack: two, want: rollout.Unchanged, rollouts: 5, image: "server:2"},
		},
		"a rollback to the predecessor's template is respected": {
			{stack: one, want: rollout.Changed, rollouts: 1},
			{happens: writes(one), stack: one, want: rollout.KeepTemplate, rollouts: 2},
			{stack: two, want: rollout.Changed, rollouts: 3},
			{happens: (*world).undo, stack: two, want: rollout.RolledBack, rollouts: 4, habit: "older"},
		},
	}
}
