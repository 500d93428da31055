package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
)

// change compares one stack. The error is a rejection if the manifest is wrong.
func (d *differ) change(ctx context.Context, s stack) (change.Change, error) {
	if len(s.errs) > 0 || !s.decoded {
		return change.Change{}, rejectionOf(s, s.errs)
	}
	var sides comparedStack
	var err error
	if d.reader == nil {
		sides = d.found.comparedWith(s, d.previous)
	} else if sides, err = d.live(ctx, s); err != nil {
		return change.Change{}, err
	}
	if problems := sides.problems(s); len(problems) > 0 {
		return change.Change{}, rejectionOf(s, problems)
	}
	d.remarks(s, sides)
	in := sides.input
	in.Namespace, in.Name = s.object.Namespace, s.object.Name
	in.Before, in.After = sides.before.plan, sides.after.plan
	in.Paused = names.Paused(sides.annotations)
	in.Open = append(in.Open, openSecrets(in.After)...)
	if d.reader != nil {
		in.Open = append(in.Open, d.reader.unknown...)
	}
	if s.older {
		in.Rename = convert.OlderPaths
	}
	return change.Of(in)
}

func rejectionOf(s stack, problems []string) error {
	found := &rejection{}
	for _, problem := range problems {
		found.problems = append(found.problems, s.title()+": "+problem)
	}
	return found
}

// comparedStack is both sides of a comparison.
type comparedStack struct {
	before, after outcome
	// annotations are those of the edited stack.
	annotations map[string]string
	input       change.Input
}

// problems returns the errors of the edited stack. Data that a roll-out waits for is part of the comparison.
func (c *comparedStack) problems(s stack) []string {
	if c.after.plan == nil {
		return c.after.errs
	}
	return slices.DeleteFunc(slices.Clone(c.after.errs), func(problem string) bool {
		for _, loss := range c.after.plan.Losses {
			text := loss.String()
			if s.older {
				text = convert.OlderPaths(text)
			}
			if strings.HasPrefix(problem, text) {
				return true
			}
		}
		return false
	})
}

// remarks prints what the running stack does not have: its new warnings and notes.
func (d *differ) remarks(s stack, sides comparedStack) {
	if sides.input.Exists && sides.before.plan == nil && len(sides.before.errs) > 0 {
		d.printer.warning(s.title() + ": the running spec gives no configuration to compare with: " +
			sides.before.errs[0])
	}
	fresh := func(now, earlier []string) []string {
		return slices.DeleteFunc(slices.Clone(now), func(text string) bool { return slices.Contains(earlier, text) })
	}
	d.printer.remarks(s, outcome{
		warnings: fresh(sides.after.warnings, sides.before.warnings), notes: fresh(sides.after.notes,
			sides.before.notes),
	})
}

// comparedWith plans a stack of the files and the running one of earlier files.
func (m *manifests) comparedWith(s stack, previous *manifests) comparedStack {
	i := slices.IndexFunc(previous.stacks, func(other stack) bool {
		return other.object.Name == s.object.Name && other.object.Namespace == s.object.Namespace
	})
	if i < 0 {
		return comparedStack{after: m.offline(s), annotations: s.object.Annotations}
	}
	running := previous.stacks[i]
	if names.Compat(running.object.Annotations) && !names.Compat(s.object.Annotations) {
		// Applying a manifest of another version does not remove the annotation.
		s.object = s.object.DeepCopy()
		metav1.SetMetaDataAnnotation(&s.object.ObjectMeta, names.AnnotationCompat,
			running.object.Annotations[names.AnnotationCompat])
	}
	sides := comparedStack{annotations: s.object.Annotations, input: change.Input{Exists: true}}
	sides.plan(previous, running, m, s, nil)
	return sides
}

// plan plans both sides with the same places of data. If they are not known, they are those of the earlier spec.
func (c *comparedStack) plan(before *manifests, running stack, after *manifests, next stack, places *retention.Places) {
	c.before = before.offlineSince(running, places)
	if places == nil && c.before.plan != nil {
		places = c.before.plan.Places
		c.before = before.offlineSince(running, places)
	}
	c.after = after.offlineSince(next, places)
}

// live plans a stack of the files and the one of the cluster.
func (d *differ) live(ctx context.Context, s stack) (comparedStack, error) {
	cluster := *d.reader.cluster
	cluster.Namespace = s.object.Namespace
	stored, err := cluster.Stack(ctx, s.object.Name)
	if _, missing := errors.AsType[*kube.NotFound](err); missing {
		m, err := d.with(ctx, s.object)
		if err != nil {
			return comparedStack{}, err
		}
		return comparedStack{after: m.offline(s), annotations: s.object.Annotations}, nil
	}
	if err != nil {
		return comparedStack{}, err
	}
	known, err := d.reader.running(ctx, stored)
	if err != nil {
		return comparedStack{}, err
	}
	next := s
	if next.object, err = edited(stored, s.object); err != nil {
		return comparedStack{}, err
	}
	before, err := d.reader.references(ctx, stored)
	if err != nil {
		return comparedStack{}, err
	}
	after, err := d.with(ctx, next.object)
	if err != nil {
		return comparedStack{}, err
	}
	sides := comparedStack{annotations: next.object.Annotations, input: known.input()}
	sides.plan(before.with(known, &stored.Spec), stack{file: s.file, object: stored, decoded: true},
		after.with(known, &next.object.Spec), next, known.places())
	return sides, nil
}

// with returns the objects that a stack refers to: those of the files, and those of the cluster that the files do not
// have.
func (d *differ) with(ctx context.Context, object *v1alpha2.LlamaStackDistribution) (*manifests, error) {
	m, err := d.reader.references(ctx, object)
	if err != nil {
		return nil, err
	}
	maps.Copy(m.configMaps, d.found.configMaps)
	m.secrets, m.secretsTwice = d.found.secrets, d.found.secretsTwice
	return m, nil
}

// input returns what the cluster shows of the running pods.
func (r *running) input() change.Input {
	in := change.Input{Exists: true, Deleting: r.stack.DeletionTimestamp != nil, Held: r.held(), Open: r.unrecorded()}
	if r.deployment != nil {
		in.Serving = &r.deployment.Status.AvailableReplicas
	}
	return in
}

// openSecrets names the keys of Secrets that the stack refers to, and what is not known because their values are not
// read.
func openSecrets(built *plan.Plan) []string {
	keys := map[string]bool{}
	add := func(secret, key string) {
		if secret != "" {
			keys[fmt.Sprintf("%s (%s)", secret, key)] = true
		}
	}
	for _, variable := range built.Env {
		if !slices.ContainsFunc(built.Derived,
			func(derived secretvalue.Derived) bool { return derived.Key == variable.SecretKey }) {
			add(variable.SecretName, variable.SecretKey)
		}
	}
	for _, derived := range built.Derived {
		add(derived.Secret, derived.SecretKey)
	}
	if secret := built.Rendered.Inputs.TLSSecret; secret != "" {
		add(secret, names.TLSCertificate)
	}
	if len(keys) == 0 {
		return nil
	}
	return []string{"Secrets are not read: " + strings.Join(slices.Sorted(maps.Keys(keys)), ", ") +
		"; whether the keys exist and fit, and whether their values changed since the pods started, which restarts " +
		"the pods, is not known"}
}
