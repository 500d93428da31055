package rollout_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// step is an event and the expected state after it.
type step struct {
	// happens is called before the reconcile. Nil means no event.
	happens func(*world)
	stack   stack
	want    rollout.Outcome
	// rollouts is the number of times that the pods have been replaced.
	rollouts int
	// image is the expected image of the pods, and habit is the expected value of HABIT. An empty value is not checked.
	image, habit string
	// adopts means that a newer operator renders the same inputs, and that the pods are replaced although their inputs are
	// the same.
	adopts bool
	// message is a part of the decision's message.
	message string
}

// These are the stacks of the scenarios.
var (
	one   = newStack()
	two   = one.change(func(s *stack) { s.image = "server:2" })
	three = two.change(func(s *stack) { s.image = "server:3" })

	upgraded    = one.with(func(s *stack) { s.operator, s.habit = operatorV2, "new" })
	upgradedTwo = two.with(func(s *stack) { s.operator, s.habit = operatorV2, "new" })
	sameHabit   = one.with(func(s *stack) { s.operator = operatorV2 })
)

// decideCases are the cases of TestDecide.
var decideCases = map[string][]step{
	"only the first apply changes the Deployment": {
		{stack: one, want: rollout.Changed, rollouts: 1, image: "server:1"},
		{stack: one, want: rollout.Unchanged, rollouts: 1},
	},
	"a change of the spec replaces the pods once": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2, image: "server:2"},
		{stack: two, want: rollout.Unchanged, rollouts: 2},
	},
	"a change of the spec that is reverted": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{stack: two.change(func(s *stack) { s.image = one.image }), want: rollout.Changed, rollouts: 3, image: "server:1"},
	},
	"scaling replaces no pods": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: scaled(one), want: rollout.Unchanged, rollouts: 1},
	},
	"a change that does not affect pods replaces no pods": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: one.change(func(s *stack) { s.memory = "1Gi" }), want: rollout.Changed, rollouts: 1},
		{stack: one.change(func(s *stack) { s.memory = "1Gi" }), want: rollout.Unchanged, rollouts: 1},
	},
	"an edit by a user is reverted": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{
			happens: func(w *world) {
				w.edit(kubectlEdit, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "evil" })
			},
			stack: one, want: rollout.Unchanged, rollouts: 3, image: "server:1",
		},
	},
	"a digest that a user writes into the template is reverted": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{
			happens: func(w *world) {
				w.edit(kubectlEdit, func(d *appsv1.Deployment) {
					d.Spec.Template.Annotations[names.AnnotationInputs] = "made up"
				})
			},
			stack: one, want: rollout.Unchanged, rollouts: 3,
		},
	},
	"a removed record is written again": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{
			happens: func(w *world) {
				w.edit(kubectlEdit, func(d *appsv1.Deployment) { delete(d.Annotations, names.AnnotationRendered) })
			},
			stack: one, want: rollout.Unchanged, rollouts: 1,
		},
		{
			happens: func(w *world) {
				w.edit(kubectlEdit, func(d *appsv1.Deployment) { d.Annotations[names.AnnotationRendered] = "{" })
			},
			stack: two, want: rollout.Changed, rollouts: 2,
		},
		{stack: two, want: rollout.Unchanged, rollouts: 2},
	},
	"an operator upgrade restarts no pods": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{
			stack: upgraded, want: rollout.KeepTemplate, rollouts: 1, habit: "old",
			message: "updates these fields: spec.containers[llama-stack].env[HABIT].value",
		},
		{stack: upgraded, want: rollout.KeepTemplate, rollouts: 1, habit: "old"},
		{stack: scaled(upgraded), want: rollout.KeepTemplate, rollouts: 1, habit: "old"},
		{stack: upgradedTwo.change(func(*stack) {}), want: rollout.Changed, rollouts: 2, habit: "new"},
		{stack: upgradedTwo.change(func(*stack) {}), want: rollout.Unchanged, rollouts: 2},
	},
	"an operator upgrade that renders the same template": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: sameHabit, want: rollout.Unchanged, rollouts: 1},
	},
	"a restart applies the rendered template": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{happens: func(w *world) { w.restart("monday") }, stack: one, want: rollout.Unchanged, rollouts: 2},
		{stack: upgraded, want: rollout.KeepTemplate, rollouts: 2, habit: "old"},
		{happens: func(w *world) { w.restart("tuesday") }, stack: upgraded, want: rollout.Changed, adopts: true, rollouts: 4, habit: "new"},
		{stack: upgraded, want: rollout.Unchanged, rollouts: 4},
	},
	"a downgrade renders the running template": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: upgraded, want: rollout.KeepTemplate, rollouts: 1},
		{stack: one, want: rollout.Unchanged, rollouts: 1},
		{stack: upgraded, want: rollout.KeepTemplate, rollouts: 1},
	},
	"an older operator's template stays until the next change": {
		{
			happens: func(w *world) { w.older(one) }, stack: one, want: rollout.KeepTemplate, rollouts: 1, habit: "older",
			message: "updates these fields: spec.containers[llama-stack].env[HABIT].value",
		},
		{stack: one, want: rollout.KeepTemplate, rollouts: 1, habit: "older"},
		{stack: two, want: rollout.Changed, rollouts: 2, habit: "old", image: "server:2"},
		{stack: two, want: rollout.Unchanged, rollouts: 2},
	},
	"a restart replaces an older operator's template": {
		{happens: func(w *world) { w.older(one) }, stack: one, want: rollout.KeepTemplate, rollouts: 1},
		{happens: func(w *world) { w.restart("monday") }, stack: one, want: rollout.Changed, adopts: true, rollouts: 3, habit: "old"},
	},
	"a rollback is respected until the spec changes": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{
			happens: (*world).undo, stack: two, want: rollout.RolledBack, rollouts: 3, image: "server:1",
			message: `Deployment "demo" was rolled back to revision 3`,
		},
		{stack: two, want: rollout.RolledBack, rollouts: 3, image: "server:1"},
		{stack: scaled(two), want: rollout.RolledBack, rollouts: 3, image: "server:1"},
		{stack: scaled(three), want: rollout.Changed, rollouts: 4, image: "server:3"},
		{stack: scaled(three), want: rollout.Unchanged, rollouts: 4},
	},
	"a rollback that is reverted": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{happens: (*world).undo, stack: two, want: rollout.RolledBack, rollouts: 3},
		{happens: (*world).undo, stack: two, want: rollout.Unchanged, rollouts: 4, image: "server:2"},
	},
	"the spec is changed to match a rollback": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{happens: (*world).undo, stack: two, want: rollout.RolledBack, rollouts: 3},
		{stack: two.change(func(s *stack) { s.image = one.image }), want: rollout.Unchanged, rollouts: 3, image: "server:1"},
	},
	"a restart does not end a rollback": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{happens: (*world).undo, stack: two, want: rollout.RolledBack, rollouts: 3},
		{happens: func(w *world) { w.restart("monday") }, stack: two, want: rollout.RolledBack, rollouts: 4, image: "server:1"},
	},
	"a rollback of the template without the annotations": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{happens: (*world).undoTemplate, stack: two, want: rollout.RolledBack, rollouts: 3, image: "server:1"},
		{stack: two, want: rollout.RolledBack, rollouts: 3},
		{stack: three, want: rollout.Changed, rollouts: 4, image: "server:3"},
	},
	"a rollback of the template without the annotations, which the Deployment controller has not processed": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{
			happens: func(w *world) { w.unsynced = true; w.undoTemplate() },
			stack:   two, want: rollout.RolledBack, rollouts: 2, image: "server:1",
		},
	},
	"a rollback to an older operator's template": {
		{happens: func(w *world) { w.older(one) }, stack: one, want: rollout.KeepTemplate, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{happens: (*world).undo, stack: two, want: rollout.RolledBack, rollouts: 3, habit: "older"},
	},
	"a rollback after an operator upgrade": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{stack: upgradedTwo, want: rollout.KeepTemplate, rollouts: 2},
		{happens: (*world).undo, stack: upgradedTwo, want: rollout.RolledBack, rollouts: 3, image: "server:1"},
	},
	"a rollback that the Deployment controller has not processed": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{
			happens: func(w *world) { w.unsynced = true; w.undo() }, stack: two, want: rollout.StaleCache, rollouts: 2,
			message: "do not match yet",
		},
		{happens: func(w *world) { w.unsynced = false; w.sync() }, stack: two, want: rollout.RolledBack, rollouts: 3},
	},
	"a stack that was read too early": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{stack: one, want: rollout.StaleCache, rollouts: 2, image: "server:2", message: "the operator has already rendered generation 2"},
		{happens: (*world).undo, stack: one, want: rollout.StaleCache, rollouts: 3, message: "generation 2"},
	},
	"a stack restored from a backup starts again at generation 1": {
		{stack: one, want: rollout.Changed, rollouts: 1},
		{stack: two, want: rollout.Changed, rollouts: 2},
		{
			stack: one.with(func(s *stack) { s.uid = secondUID }), want: rollout.Changed, rollouts: 3, image: "server:1",
		},
	},
}

func TestDecide(t *testing.T) {
	for name, steps := range decideCases {
		t.Run(name, func(t *testing.T) { play(t, steps) })
	}
}

func scaled(s stack) stack { return s.change(func(s *stack) { s.replicas = 3 }) }

func TestDecideOnReferences(t *testing.T) {
	with := func(digest, key string) stack {
		s := newStack()
		s.secrets = rollout.References{Digest: digest, Key: key}
		return s
	}
	newHabit := func(s *stack) { s.habit = "new" }
	changed := with("b", firstKey).change(func(s *stack) { s.image = "server:2" })
	otherKey := changed.with(func(s *stack) { s.secrets = rollout.References{Digest: "y", Key: nextKey} })
	for name, steps := range map[string][]step{
		"a changed Secret replaces the pods once": {
			{stack: with("a", firstKey), want: rollout.Changed, rollouts: 1},
			{stack: with("b", firstKey), want: rollout.Changed, rollouts: 2},
			{stack: with("b", firstKey), want: rollout.Unchanged, rollouts: 2},
		},
		"another key replaces no pods, but a later change does": {
			{stack: with("a", firstKey), want: rollout.Changed, rollouts: 1},
			{stack: with("x", nextKey), want: rollout.Unchanged, rollouts: 1},
			{stack: with("x", nextKey), want: rollout.Unchanged, rollouts: 1},
			{stack: with("y", nextKey), want: rollout.Changed, rollouts: 2},
			{stack: with("y", nextKey), want: rollout.Unchanged, rollouts: 2},
		},
		"the record is removed": {
			{stack: with("a", firstKey), want: rollout.Changed, rollouts: 1},
			{happens: (*world).loseRecord, stack: with("a", firstKey), want: rollout.Unchanged, rollouts: 1},
			{stack: with("b", firstKey), want: rollout.Changed, rollouts: 2},
		},
		"another key and an operator upgrade at the same time": {
			{stack: with("a", firstKey), want: rollout.Changed, rollouts: 1},
			{stack: with("x", nextKey).with(newHabit), want: rollout.KeepTemplate, rollouts: 1},
			{stack: with("y", nextKey).with(newHabit), want: rollout.Changed, rollouts: 2},
		},
		"a rollback to a template with another key": {
			{stack: with("a", firstKey), want: rollout.Changed, rollouts: 1},
			{stack: changed, want: rollout.Changed, rollouts: 2},
			{stack: otherKey, want: rollout.Unchanged, rollouts: 2},
			{happens: (*world).undo, stack: otherKey, want: rollout.RolledBack, rollouts: 3},
		},
	} {
		t.Run(name, func(t *testing.T) { play(t, steps) })
	}
}

// TestDecideKeepsFactsAboutData checks that the facts about data in the record change only with the pods. An operator
// that records such facts for the first time causes no write.
func TestDecideKeepsFactsAboutData(t *testing.T) {
	said := func(w *world) string {
		found, _ := rollout.Parse(w.live().Annotations)
		text := strings.Join(found.Left, ",")
		if found.Places != nil {
			text = found.Places.Release + " " + text
		}
		return strings.TrimSpace(text)
	}
	w := newWorld(t)
	one := newStack()
	w.reconcile(one)
	before := w.live()
	one.operator, one.data = operatorV2, "0.6"
	w.reconcile(one)
	if diff := cmp.Diff(before, w.live(), ignoreTime); diff != "" {
		t.Errorf("an upgrade changed the Deployment (-before +after):\n%s", diff)
	}
	two := one.change(func(s *stack) { s.image, s.data, s.left = "server:2", "0.7", "files" })
	w.reconcile(two)
	if got := said(w); got != "0.7 files" {
		t.Errorf("after a change the record has %q", got)
	}
	// A rendering with the places of the running pods leaves no data behind.
	two.left = ""
	w.reconcile(two)
	scaled := two.change(func(s *stack) { s.replicas = 3 })
	w.reconcile(scaled)
	newer := scaled
	newer.habit, newer.data = "new", "0.8"
	w.reconcile(newer)
	if got := said(w); got != "0.7 files" {
		t.Errorf("after a change without new pods the record has %q", got)
	}
	w.reconcile(newer.change(func(s *stack) { s.image = "server:3" }))
	if got := said(w); got != "0.8" {
		t.Errorf("after the next change the record has %q", got)
	}
}

// TestDecideKeepsApplied checks that a decision keeps the recorded digests of ConfigMaps until a caller replaces them.
func TestDecideKeepsApplied(t *testing.T) {
	w := newWorld(t)
	one := newStack()
	rendered := one.render(t)
	rendered.Record.Applied = map[string]string{"my-config": "digest"}
	w.decide(rendered)
	before := w.live()
	for _, next := range []stack{one, one.change(func(s *stack) { s.image = "server:2" })} {
		w.reconcile(next)
		record, _ := rollout.Parse(w.live().Annotations)
		if diff := cmp.Diff(rendered.Record.Applied, record.Applied); diff != "" {
			t.Errorf("image %s, digests (-want +got):\n%s", next.image, diff)
		}
		if diff := cmp.Diff(before, w.live(), ignoreTime); diff != "" && next.image == one.image {
			t.Errorf("the same stack changed the Deployment (-before +after):\n%s", diff)
		}
	}
}

// TestDecideOnADeploymentReadTooEarly checks that the decision waits for the cache if the Deployment was read before
// the operator's last apply and its ReplicaSets were read after it.
func TestDecideOnADeploymentReadTooEarly(t *testing.T) {
	w := newWorld(t)
	one := newStack()
	two := one.change(func(s *stack) { s.image = "server:2" })
	w.reconcile(one)
	early := w.live()
	w.reconcile(two)
	decision, err := rollout.Decide(early, w.sets, two.render(t))
	if err != nil || decision.Outcome != rollout.StaleCache || decision.Deployment != nil {
		t.Errorf("decision %+v, error %v; want %s", decision, err, rollout.StaleCache)
	}
}

// TestDecideWithAnUnknownGeneration checks that a record with a generation that is newer than the newest generation of
// the stack is ignored, both on the Deployment and on a ReplicaSet.
func TestDecideWithAnUnknownGeneration(t *testing.T) {
	w := newWorld(t)
	one := newStack()
	w.reconcile(one)
	damage := func(annotations map[string]string) {
		found, _ := rollout.Parse(annotations)
		found.Generation = 99
		annotations[names.AnnotationRendered], _ = found.Encode()
	}
	w.edit(kubectlEdit, func(live *appsv1.Deployment) { damage(live.Annotations) })
	rendered := one.change(func(s *stack) { s.image = "server:2" }).render(t)
	decision := w.decide(rendered)
	if decision.Outcome != rollout.StaleCache || !decision.NewerGeneration {
		t.Errorf("while a newer generation may exist: %+v", decision)
	}
	rendered.Newest = true
	for range 2 { // the damaged record is on the Deployment, then only on a ReplicaSet
		if decision = w.decide(rendered); decision.Outcome == rollout.StaleCache || decision.Record.Generation != 2 ||
			w.image() != "server:2" {
			t.Errorf("outcome %s, record of generation %d, pods run %q", decision.Outcome, decision.Record.Generation, w.image())
		}
	}
}

func TestDecideIgnoresForeignReplicaSets(t *testing.T) {
	w := newWorld(t)
	one := newStack()
	w.reconcile(one)
	w.reconcile(one.change(func(s *stack) { s.image = "server:2" }))
	foreign := make([]appsv1.ReplicaSet, len(w.sets))
	for i := range w.sets {
		w.sets[i].DeepCopyInto(&foreign[i])
		foreign[i].OwnerReferences[0].UID = "another"
		foreign[i].Annotations[names.AnnotationRendered] = `{"uid":"first","generation":99,"inputs":"x"}`
	}
	three := one.change(func(s *stack) { s.image, s.generation = "server:3", 3 })
	decision, err := rollout.Decide(w.live(), foreign, three.render(t))
	if err != nil || decision.Outcome != rollout.Changed {
		t.Errorf("outcome %s, error %v; want %s", decision.Outcome, err, rollout.Changed)
	}
}

// TestDecideWithoutManagedFields checks that a Deployment without managed fields is an error: the operator's fields are
// unknown, and an apply that leaves out some of them would remove them.
func TestDecideWithoutManagedFields(t *testing.T) {
	w := newWorld(t)
	one := newStack()
	w.reconcile(one)
	live := w.live()
	live.ManagedFields = nil
	one.habit = "new"
	if decision, err := rollout.Decide(live, w.sets, one.render(t)); err == nil ||
		!strings.Contains(err.Error(), "managed fields") {
		t.Errorf("decision %+v, error %v; want an error about managed fields", decision, err)
	}
}

// play runs the steps. After each step, it checks that another reconcile changes nothing.
func play(t *testing.T, steps []step) {
	t.Helper()
	w := newWorld(t)
	for i, step := range steps {
		if step.happens != nil {
			step.happens(w)
		}
		before := w.rollouts
		decision := w.reconcile(step.stack)
		if rolled := w.rollouts > before; before > 0 && decision.Replaces != (rolled && step.want == rollout.Changed &&
			!step.adopts) {
			t.Errorf("step %d: the decision replaces pods: %t; the pods were replaced: %t", i, decision.Replaces, rolled)
		}
		if decision.Outcome != step.want {
			t.Fatalf("step %d: outcome %s (%s), want %s", i, decision.Outcome, decision.Message, step.want)
		}
		if (decision.Deployment == nil) != (step.want == rollout.StaleCache) {
			t.Errorf("step %d: outcome %s with Deployment %v", i, decision.Outcome, decision.Deployment)
		}
		if !strings.Contains(decision.Message, step.message) {
			t.Errorf("step %d: message %q, want %q in it", i, decision.Message, step.message)
		}
		if w.rollouts != step.rollouts {
			t.Errorf("step %d: %d rollouts, want %d", i, w.rollouts, step.rollouts)
		}
		if step.image != "" && w.image() != step.image {
			t.Errorf("step %d: the pods run %q, want %q", i, w.image(), step.image)
		}
		if step.habit != "" && w.habit() != step.habit {
			t.Errorf("step %d: the pods have HABIT=%q, want %q", i, w.habit(), step.habit)
		}
		if got := *w.live().Spec.Replicas; step.want != rollout.StaleCache && got != step.stack.replicas {
			t.Errorf("step %d: %d replicas, want %d", i, got, step.stack.replicas)
		}
		settled(t, w, step.stack)
	}
}

// loseRecord removes the annotation with the record.
func (w *world) loseRecord() {
	w.edit(kubectlEdit, func(live *appsv1.Deployment) { delete(live.Annotations, names.AnnotationRendered) })
}

// settled reconciles once more and checks that nothing changes.
func settled(t *testing.T, w *world, s stack) {
	t.Helper()
	before := w.live()
	w.reconcile(s)
	if diff := cmp.Diff(before, w.live(), ignoreTime); diff != "" {
		t.Errorf("another reconcile changed the Deployment (-before +after):\n%s", diff)
	}
}

var ignoreTime = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Time" }, cmp.Ignore())

// older creates a Deployment as the older operator did: without a digest, without a record, and with a different
// template.
func (w *world) older(s stack) {
	w.t.Helper()
	replicas := s.replicas
	labels := names.Selector(name)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: names.Container, Image: s.image, Env: []corev1.EnvVar{{Name: "HABIT", Value: "older"}},
				}}},
			},
		},
	}
	options := metav1.CreateOptions{FieldManager: olderOperator}
	if err := w.deployments.Create(deploymentsResource, deployment, namespace, options); err != nil {
		w.t.Fatal(err)
	}
	w.sync()
}
