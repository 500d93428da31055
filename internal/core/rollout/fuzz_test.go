package rollout_test

import (
	"strconv"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// FuzzDecide checks any sequence of actions of users and operators: a second reconcile finds nothing to do, pods are
// replaced only for a reason, and a change to the spec at the end always rolls out the newest generation.
func FuzzDecide(f *testing.F) {
	f.Add([]byte("iruk"))
	f.Add([]byte("iisoouurrkk"))
	f.Add([]byte("ioiuoiruskioeti"))
	f.Add([]byte("ipipsppriupo"))
	f.Fuzz(func(t *testing.T, script []byte) {
		script = script[:min(len(script), 24)] // longer sequences cover no other case
		w := newWorld(t)
		s := newStack()
		s.secrets = rollout.References{Digest: "0", Key: "0"}
		decision := w.reconcile(s)
		for i, event := range script {
			before := w.rollouts
			pending := decision.Outcome == rollout.KeepTemplate || decision.Outcome == rollout.RolledBack
			reason := happen(w, &s, event, strconv.Itoa(i), pending)
			if event == 'p' {
				before = w.rollouts // the operator for v1alpha1 replaced pods, but this operator must not replace them
			}
			decision = w.reconcile(s)
			if decision.Outcome == rollout.StaleCache {
				t.Fatalf("event %d (%c): %s", i, event, decision.Message)
			}
			if !reason && w.rollouts != before {
				t.Fatalf("event %d (%c): pods were replaced without a reason, outcome %s", i, event, decision.Outcome)
			}
			settled(t, w, s)
		}
		last := s.change(func(s *stack) { s.image = "server:last" })
		if decision := w.reconcile(last); decision.Outcome != rollout.Changed || w.image() != last.image {
			t.Fatalf("the last change ends in %s with image %q", decision.Outcome, w.image())
		}
		if decision := w.reconcile(last); decision.Outcome != rollout.Unchanged {
			t.Fatalf("after the last change: %s", decision.Outcome)
		}
	})
}

// happen performs one action and reports whether the operator can replace pods after this action. The operator applies
// a pending rendering with every change to the spec that could affect pods.
func happen(w *world, s *stack, event byte, mark string, pending bool) bool {
	switch event {
	case 'i': // a new image
		*s = s.change(func(s *stack) { s.image = "server:" + mark })
		return true
	case 'b': // the first image
		*s = s.change(func(s *stack) { s.image = "server:1" })
		return true
	case 's': // another number of replicas
		*s = s.change(func(s *stack) { s.replicas++ })
	case 'e': // the default, set explicitly
		*s = s.change(func(s *stack) { s.memory = "1Gi" })
		return pending
	case 'o': // another operator version
		s.operator, s.habit = "operator-"+mark, "habit-"+mark
	case 'k': // the key of the references is deleted and created again
		s.secrets = rollout.References{Digest: "k" + mark, Key: "key-" + mark}
	case 'u': // a rollback
		if len(w.sets) > 1 {
			w.undo()
		}
		return true
	case 'p': // the operator for v1alpha1 runs, then this operator again
		older := *s
		older.image += "-older"
		w.olderApplies(older)
	case 'r': // a restart
		w.restart(mark)
		return true
	default: // a Secret changes
		s.secrets.Digest = "d" + mark
		return true
	}
	return false
}
