package rollout_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// TestGenerationOfTheTemplate checks that the template's annotation contains the generation for which the template was
// rendered: a change that replaces the pods sets its own generation, and any other change keeps the generation.
func TestGenerationOfTheTemplate(t *testing.T) {
	w := newWorld(t)
	s := newStack()
	s.secrets = rollout.References{Digest: "0", Key: firstKey}
	for _, tc := range []struct {
		name  string
		edit  func(*stack)
		want  string
		rolls int
	}{
		{name: "the first rendering", edit: func(*stack) {}, want: "first/2", rolls: 1},
		{name: "another number of replicas", edit: func(s *stack) { s.replicas = 3 }, want: "first/2", rolls: 1},
		{name: "a default that is set explicitly", edit: func(s *stack) { s.memory = "1Gi" }, want: "first/2", rolls: 1},
		{name: "a newer operator", edit: func(s *stack) { s.operator = operatorV2 }, want: "first/2", rolls: 1},
		{name: "another image", edit: func(s *stack) { s.image = "server:2" }, want: "first/6", rolls: 2},
		{name: "a changed Secret", edit: func(s *stack) { s.secrets = rollout.References{Digest: "a", Key: firstKey} }, want: "first/7", rolls: 3},
		{name: "another key of the digests", edit: func(s *stack) { s.secrets = rollout.References{Digest: "b", Key: nextKey} }, want: "first/7", rolls: 3},
	} {
		s = s.change(tc.edit)
		w.reconcile(s)
		if got := w.live().Spec.Template.Annotations[names.AnnotationGeneration]; got != tc.want || w.rollouts != tc.rolls {
			t.Errorf("%s: generation %q after %d rollouts, want %q after %d", tc.name, got, w.rollouts, tc.want, tc.rolls)
		}
	}
}
