package rollout_test

import (
	"strings"
	"testing"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// configured returns a rendering of a generated configuration with the given digest.
func configured(t *testing.T, s stack, config string) rollout.Rendered {
	t.Helper()
	configMap := names.ConfigMap(name, config)
	if s.base != "" {
		configMap = rollout.ConfigMapName(name, config, s.base)
	}
	inputs := rollout.Inputs{Image: s.image, ConfigHash: config, ConfigMap: configMap}
	digest, err := rollout.Digest(inputs, s.secrets)
	if err != nil {
		t.Fatal(err)
	}
	rendered := s.render(t)
	template := rendered.Deployment.Spec.Template
	template.WithAnnotations(map[string]string{names.AnnotationInputs: digest})
	template.Spec.WithVolumes(corev1ac.Volume().WithName(names.ConfigVolume).
		WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(configMap)))
	next := rendered.Record
	next.Inputs, next.ConfigHash = digest, config
	if s.base != "" {
		next.Base, next.BaseConfigMap = s.base, configMap
	}
	rendered, err = rollout.NewRendered(appsv1ac.Deployment(name, namespace).WithSpec(rendered.Deployment.Spec), next)
	if err != nil {
		t.Fatal(err)
	}
	rendered.Inputs = inputs
	return rendered
}

// TestAnotherConfigurationOfANewerOperator checks that a newer operator that generates another configuration for an
// unchanged stack restarts no pod, and that every other change is rolled out.
func TestAnotherConfigurationOfANewerOperator(t *testing.T) {
	old, next := strings.Repeat("a", 64), strings.Repeat("b", 64)
	upgrade := func(s *stack) { s.operator = operatorV2 }
	for _, tc := range []struct {
		name string
		base string
		edit func(*stack)
		want rollout.Outcome
	}{
		{name: "a newer operator", edit: upgrade, want: rollout.KeepTemplate},
		{name: "a newer operator, which keeps the base", base: "a", edit: upgrade, want: rollout.KeepTemplate},
		{
			name: "a newer operator and another base", base: "a", edit: func(s *stack) { s.operator, s.base = operatorV2, "b" },
			want: rollout.Changed,
		},
		{name: "the same operator version", edit: func(*stack) {}, want: rollout.Changed},
		{
			name: "a newer operator and a changed spec", edit: func(s *stack) { s.operator = operatorV2; s.generation++ },
			want: rollout.Changed,
		},
		{name: "a newer operator and another image", edit: func(s *stack) { s.operator, s.image = operatorV2, "server:2" }, want: rollout.Changed},
		{name: "a newer operator and another stack with the same name", edit: func(s *stack) { s.operator, s.uid = operatorV2, secondUID }, want: rollout.Changed},
		{
			name: "a newer operator and a changed Secret", want: rollout.Changed,
			edit: func(s *stack) {
				s.operator, s.secrets = operatorV2, rollout.References{Digest: "b", Key: firstKey}
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			s := newStack()
			s.secrets, s.base = rollout.References{Digest: "a", Key: firstKey}, tc.base
			w.decide(configured(t, s, old))
			tc.edit(&s)
			if got := w.decide(configured(t, s, next)); got.Outcome != tc.want {
				t.Errorf("outcome %s, want %s: %s", got.Outcome, tc.want, got.Message)
			}
			rollouts := w.rollouts
			if got := w.decide(configured(t, s, next)); got.Replaces || w.rollouts != rollouts {
				t.Errorf("another reconcile replaced pods: %+v", got)
			}
			s.generation, s.image = s.generation+1, "server:3"
			if got := w.decide(configured(t, s, next)); got.Outcome != rollout.Changed || w.image() != "server:3" {
				t.Errorf("outcome %s and image %q after a change of the spec", got.Outcome, w.image())
			}
		})
	}
}

// chosen returns a rendering of a stack with this image from the catalog.
func chosen(t *testing.T, s stack) rollout.Rendered {
	t.Helper()
	rendered := s.render(t)
	next := rendered.Record
	next.Distribution = rollout.Distribution{Name: "starter", CatalogueImage: s.image, Image: s.image}
	rendered, err := rollout.NewRendered(rendered.Deployment, next)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// TestReleaseDetectedLater checks that no pod is replaced if the operator takes over another program's pods and detects
// their release only later. The image of this release is rolled out with the next change.
func TestReleaseDetectedLater(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*stack)
		ours bool
		want rollout.Outcome
	}{
		"the release is detected later":                         {edit: func(s *stack) { s.image = "starter:0.3.5" }, want: rollout.KeepTemplate},
		"the release of this operator's pods is detected later": {edit: func(s *stack) { s.image = "starter:0.3.5" }, ours: true, want: rollout.Changed},
		"the release is detected with a change of the spec":     {edit: func(s *stack) { s.image, s.generation = "starter:0.3.5", 2 }, want: rollout.Changed},
		"the release is detected with a change of a Secret": {edit: func(s *stack) {
			s.image, s.secrets = "starter:0.3.5", rollout.References{Digest: "b", Key: firstKey}
		}, want: rollout.Changed},
	} {
		w, s := newWorld(t), newStack()
		s.image, s.secrets = "starter:0.7.1", rollout.References{Digest: "a", Key: firstKey}
		if !tc.ours {
			w.older(s)
		}
		w.decide(chosen(t, s))
		before := w.rollouts
		tc.edit(&s)
		if got := w.decide(chosen(t, s)); got.Outcome != tc.want ||
			(w.rollouts == before) != (tc.want == rollout.KeepTemplate) {
			t.Errorf("%s: outcome %s after %d more rollouts, want %s", name, got.Outcome, w.rollouts-before, tc.want)
		}
		if got := w.decide(chosen(t, s)); got.Replaces {
			t.Errorf("%s: another reconcile replaced pods", name)
		}
		s.generation, s.memory = s.generation+1, "2Gi"
		if got := w.decide(chosen(t, s)); got.Outcome != rollout.Changed || w.image() != "starter:0.3.5" {
			t.Errorf("%s: outcome %s and image %q after a change of the spec", name, got.Outcome, w.image())
		}
	}
}
