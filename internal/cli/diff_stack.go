package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// change compares one stack. The error is a rejection if the manifest is invalid.
func (d *differ) change(ctx context.Context, s dryrun.Stack) (change.Change, error) {
	if len(s.Errors) > 0 || !s.Decoded {
		return change.Change{}, rejectionOf(s, s.Errors)
	}
	var sides comparedStack
	var err error
	if d.reader == nil {
		sides = comparedWith(d.found, s, d.previous)
	} else if sides, err = d.live(ctx, s); err != nil {
		return change.Change{}, err
	}
	if problems := sides.problems(s); len(problems) > 0 {
		return change.Change{}, rejectionOf(s, problems)
	}
	d.remarks(s, sides)
	return change.Of(d.input(s, sides))
}

// input returns the running stack and the edited stack as input for the comparison.
func (d *differ) input(s dryrun.Stack, sides comparedStack) change.Input {
	in := sides.input
	in.Namespace, in.Name = s.Object.Namespace, s.Object.Name
	in.Before, in.After = sides.before.Plan, sides.after.Plan
	in.Paused = names.Paused(sides.annotations)
	in.Open = append(in.Open, openSecrets(in.After)...)
	if d.reader != nil {
		in.Open = append(in.Open, d.reader.unknown...)
	}
	if s.Older {
		in.Rename = convert.OlderPaths
	}
	return in
}

// rejectionOf returns the problems of a stack as an error.
func rejectionOf(s dryrun.Stack, problems []string) error {
	found := &rejection{}
	for _, problem := range problems {
		found.problems = append(found.problems, s.Title()+": "+problem)
	}
	return found
}

// comparedStack holds both sides of a comparison.
type comparedStack struct {
	before, after dryrun.Outcome
	// running is the running stack. It is empty if there is none.
	running dryrun.Stack
	// annotations are the annotations of the edited stack.
	annotations map[string]string
	input       change.Input
}

// problems returns the errors of the edited stack, except those that the cluster accepts because the stored stack has
// them too. A loss of data that the user has not accepted is not among them, because the comparison shows it.
func (c *comparedStack) problems(s dryrun.Stack) []string {
	if c.after.Plan == nil {
		return c.after.Errors
	}
	return slices.DeleteFunc(slices.Clone(c.after.Errors), func(problem string) bool {
		if slices.Contains(c.before.Warnings, problem) {
			return true
		}
		for _, loss := range c.after.Plan.Losses {
			text := loss.String()
			if s.Older {
				text = convert.OlderPaths(text)
			}
			if strings.HasPrefix(problem, text) {
				return true
			}
		}
		return false
	})
}

// remarks prints those warnings and notes about the edited stack that do not also apply to the running stack.
func (d *differ) remarks(s dryrun.Stack, sides comparedStack) {
	if sides.input.Exists && sides.before.Plan == nil && len(sides.before.Errors) > 0 {
		d.printer.warning(s.Title() + ": no configuration can be generated from the stack's spec in the cluster, so the configurations are not compared: " +
			sides.before.Errors[0])
	}
	fresh := func(now, earlier []string) []string {
		return slices.DeleteFunc(slices.Clone(now), func(text string) bool { return slices.Contains(earlier, text) })
	}
	d.printer.remarks(s, dryrun.Outcome{
		Warnings: fresh(sides.after.Warnings, sides.before.Warnings),
		Notes:    fresh(sides.after.Notes, sides.before.Notes),
	})
}

// comparedWith plans an edited stack, and the running stack in the files of --previous.
func comparedWith(m *dryrun.Manifests, s dryrun.Stack, previous *dryrun.Manifests) comparedStack {
	running, ok := runningStack(previous, s)
	if !ok {
		return comparedStack{after: m.Plan(s), annotations: s.Object.Annotations}
	}
	s = withCompat(s, running)
	sides := comparedStack{running: running, annotations: s.Object.Annotations, input: change.Input{Exists: true}}
	sides.before, sides.after = previous.PlanChange(running, m, s)
	sides.after.Volume(running, s, nil)
	return sides
}

// live plans an edited stack, and the stack in the cluster.
func (d *differ) live(ctx context.Context, s dryrun.Stack) (comparedStack, error) {
	cluster := *d.reader.cluster
	cluster.Namespace = s.Object.Namespace
	stored, err := cluster.Stack(ctx, s.Object.Name)
	if _, missing := errors.AsType[*kube.NotFound](err); missing {
		m, err := d.with(ctx, s.Object)
		if err != nil {
			return comparedStack{}, err
		}
		m.Definition = d.found.Definition
		sides := comparedStack{after: m.Plan(s), annotations: s.Object.Annotations}
		return sides, try(ctx, d.reader.cluster, planned{s, &sides.after}, planned{})
	}
	if err != nil {
		return comparedStack{}, err
	}
	return d.edit(ctx, s, stored)
}

// edit plans an edited stack, and the stored stack that it changes.
func (d *differ) edit(
	ctx context.Context, s dryrun.Stack, stored *v1alpha2.LlamaStackDistribution,
) (comparedStack, error) {
	known, err := d.reader.running(ctx, stored)
	if err != nil {
		return comparedStack{}, err
	}
	next := s
	if next.Object, err = edited(stored, s.Object); err != nil {
		return comparedStack{}, err
	}
	before, err := d.reader.references(ctx, stored)
	if err != nil {
		return comparedStack{}, err
	}
	after, err := d.with(ctx, next.Object)
	if err != nil {
		return comparedStack{}, err
	}
	running := dryrun.Stack{File: s.File, Object: stored, Decoded: true}
	sides := comparedStack{running: running, annotations: next.Object.Annotations, input: inputOf(stored, known)}
	sides.before, sides.after = before.With(known).PlanChange(running, after.With(known), next)
	claim, err := d.reader.claim(ctx, stored)
	if err != nil {
		return sides, err
	}
	if claim != nil {
		sides.after.Volume(running, next, claim)
	}
	return sides, try(ctx, d.reader.cluster, planned{next, &sides.after}, planned{running, &sides.before})
}

// with returns the ConfigMaps and Secrets that a stack may refer to. A ConfigMap in the files takes precedence over the
// ConfigMap in the cluster. Secrets come only from the files.
func (d *differ) with(ctx context.Context, object *v1alpha2.LlamaStackDistribution) (*dryrun.Manifests, error) {
	m, err := d.reader.references(ctx, object)
	if err != nil {
		return nil, err
	}
	maps.Copy(m.ConfigMaps, d.found.ConfigMaps)
	m.Secrets, m.SecretsTwice = d.found.Secrets, d.found.SecretsTwice
	m.Image, m.Now = d.found.Image, d.found.Now
	return m, nil
}

// inputOf returns the facts about the running pods.
func inputOf(stack *v1alpha2.LlamaStackDistribution, r *facts.Running) change.Input {
	in := change.Input{Exists: true, Deleting: stack.DeletionTimestamp != nil}
	// The message is about the pod template changes that the operator postpones until it next replaces the pods.
	if held := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionAdopted); held != nil &&
		held.Status == metav1.ConditionFalse {
		in.Held = held.Message
	}
	if r.Deployment == nil {
		return in
	}
	in.Serving = &r.Deployment.Status.AvailableReplicas
	if r.Record.Inputs == "" {
		in.Open = []string{fmt.Sprintf("Deployment %q has no record from this operator in the annotation %s, so the "+
			"comparison assumes that the running pods match the spec of the stack; to compare the running pods, run kubectl "+
			"llamastack migrate --dry-run", r.Deployment.Name, names.AnnotationRendered)}
	}
	return in
}

// openSecrets returns a sentence about the keys of Secrets that the stack refers to, because the command does not read
// their values. It returns nil if there are no such keys.
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
	return []string{"this command reads no Secret, so it cannot check whether each of these keys exists, whether its value is valid, " +
		"or whether the value has changed since the pods started: " + strings.Join(slices.Sorted(maps.Keys(keys)), ", ") +
		"; a changed value restarts the pods"}
}
