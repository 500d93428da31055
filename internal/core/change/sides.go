package change

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/volume"
)

// runningStack returns the running stack that has the name and the namespace of s, and false if there is none.
func runningStack(previous *dryrun.Manifests, s *dryrun.Stack) (dryrun.Stack, bool) {
	i := slices.IndexFunc(previous.Stacks, func(other dryrun.Stack) bool {
		return other.Object.Name == s.Object.Name && other.Object.Namespace == s.Object.Namespace
	})
	if i < 0 {
		return dryrun.Stack{}, false
	}
	return previous.Stacks[i], true
}

// withCompat returns a stack with the compatibility annotation of the running stack, if applying the manifest of the
// stack does not remove the annotation.
func withCompat(s, running dryrun.Stack) dryrun.Stack {
	was, is := profile.Of(running.Object.Annotations).V1alpha1, profile.Of(s.Object.Annotations).V1alpha1
	if was && !is && keepsCompat(running) {
		s.Object = s.Object.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.Object.ObjectMeta, names.AnnotationCompat,
			running.Object.Annotations[names.AnnotationCompat])
	}
	return s
}

// keepsCompat reports whether a running stack keeps its compatibility annotation when a manifest without the annotation
// is applied. The operator adds the annotation to a v1alpha1 stack. A client removes only an annotation that it added
// itself, which the client's own record shows.
func keepsCompat(running dryrun.Stack) bool {
	applied, recorded := running.Object.Annotations[corev1.LastAppliedConfigAnnotation]
	return running.Older || recorded && !strings.Contains(applied, names.AnnotationCompat)
}

// Sides holds both sides of a comparison.
type Sides struct {
	Before, After dryrun.Outcome
	// Running is the running stack. It is empty if there is none.
	Running dryrun.Stack
	// Annotations are the annotations of the edited stack.
	Annotations map[string]string
	Input       Input
}

// Problems returns the errors of the edited stack, except those that the cluster accepts because the stored stack has
// them too. A loss of data that the user has not accepted is not among them, because the comparison shows it.
func (c *Sides) Problems(s dryrun.Stack) []string {
	if c.After.Plan == nil {
		return c.After.Errors
	}
	return slices.DeleteFunc(slices.Clone(c.After.Errors), func(problem string) bool {
		if slices.Contains(c.Before.Warnings, problem) {
			return true
		}
		for _, loss := range c.After.Plan.Losses {
			if strings.HasPrefix(problem, s.Named(loss.String())) {
				return true
			}
		}
		return false
	})
}

// Change compares both sides of an edited stack. open lists facts that are not known.
func (c *Sides) Change(s dryrun.Stack, open []string) (Change, error) {
	in := c.Input
	in.Namespace, in.Name = s.Object.Namespace, s.Object.Name
	in.Before, in.After = c.Before.Plan, c.After.Plan
	in.Paused = names.Paused(c.Annotations)
	in.Open = append(in.Open, open...)
	in.Rename = s.Named
	return Of(in)
}

// Since plans an edited stack of the manifests m, and the running stack in the previous manifests.
func Since(previous, m *dryrun.Manifests, s dryrun.Stack) Sides {
	running, ok := runningStack(previous, &s)
	if !ok {
		return Sides{After: m.Plan(s), Annotations: s.Object.Annotations}
	}
	s = withCompat(s, running)
	sides := Sides{Running: running, Annotations: s.Object.Annotations, Input: Input{Exists: true}}
	sides.Before, sides.After = previous.PlanChange(running, m, s)
	sides.Volume(s, nil)
	return sides
}

// Volume adds the errors and warnings about the change to the volume of an edited stack. A nil claim means that the
// PersistentVolumeClaim is not known.
func (c *Sides) Volume(s dryrun.Stack, claim *corev1.PersistentVolumeClaim) {
	if !c.Running.Decoded || !s.Decoded {
		return
	}
	problems, warnings := volume.Change(c.Running.Object, s.Object, claim)
	for _, text := range problems {
		c.After.Errors = append(c.After.Errors, s.Named(text))
	}
	for _, text := range warnings {
		c.After.Warnings = append(c.After.Warnings, s.Named(text))
	}
}
