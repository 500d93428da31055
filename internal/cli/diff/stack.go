package diff

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
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/compare"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
)

// change compares one stack. The error is a rejection if the manifest is invalid.
func (d *differ) change(ctx context.Context, s dryrun.Stack) (change.Change, error) {
	if len(s.Errors) > 0 || !s.Decoded {
		return change.Change{}, rejectionOf(s, s.Errors)
	}
	var sides change.Sides
	var err error
	if d.reader == nil {
		sides = change.Since(d.previous, d.found, s)
	} else if sides, err = d.live(ctx, s); err != nil {
		return change.Change{}, err
	}
	if problems := sides.Problems(s); len(problems) > 0 {
		return change.Change{}, rejectionOf(s, problems)
	}
	d.remarks(s, sides)
	return sides.Change(s, d.open(sides.After.Plan))
}

// open lists the facts about the edited stack that are not known.
func (d *differ) open(after *plan.Plan) []string {
	open := openSecrets(after)
	if d.reader != nil {
		open = append(open, d.reader.Unknown...)
	}
	return open
}

// rejectionOf returns the problems of a stack as an error.
func rejectionOf(s dryrun.Stack, problems []string) error {
	found := &app.Rejection{}
	for _, problem := range problems {
		found.Problems = append(found.Problems, s.Title()+": "+problem)
	}
	return found
}

// remarks prints those warnings and notes about the edited stack that do not also apply to the running stack.
func (d *differ) remarks(s dryrun.Stack, sides change.Sides) {
	if sides.Input.Exists && sides.Before.Plan == nil && len(sides.Before.Errors) > 0 {
		d.printer.Warning(s.Title() + ": no configuration can be generated from the stack's spec in the cluster, so the configurations are not compared: " +
			sides.Before.Errors[0])
	}
	fresh := func(now, earlier []string) []string {
		return slices.DeleteFunc(slices.Clone(now), func(text string) bool { return slices.Contains(earlier, text) })
	}
	d.printer.Remarks(s, dryrun.Outcome{
		Warnings: fresh(sides.After.Warnings, sides.Before.Warnings),
		Notes:    fresh(sides.After.Notes, sides.Before.Notes),
	})
}

// live plans an edited stack, and the stack in the cluster.
func (d *differ) live(ctx context.Context, s dryrun.Stack) (change.Sides, error) {
	cluster := *d.reader.Cluster
	cluster.Namespace = s.Object.Namespace
	stored, err := cluster.Stack(ctx, s.Object.Name)
	if _, missing := errors.AsType[*kube.NotFound](err); missing {
		m, err := d.with(ctx, s.Object)
		if err != nil {
			return change.Sides{}, err
		}
		m.Definition = d.found.Definition
		sides := change.Sides{After: m.Plan(s), Annotations: s.Object.Annotations}
		return sides, compare.Try(ctx, d.reader.Cluster, compare.Planned{Stack: s, Outcome: &sides.After}, compare.Planned{})
	}
	if err != nil {
		return change.Sides{}, err
	}
	return d.edit(ctx, s, stored)
}

// edit plans an edited stack, and the stored stack that it changes.
func (d *differ) edit(
	ctx context.Context, s dryrun.Stack, stored *v1alpha2.LlamaStackDistribution,
) (change.Sides, error) {
	known, err := d.reader.Running(ctx, stored)
	if err != nil {
		return change.Sides{}, err
	}
	next := s
	if next.Object, err = edited(stored, s.Object); err != nil {
		return change.Sides{}, err
	}
	before, err := d.reader.References(ctx, stored)
	if err != nil {
		return change.Sides{}, err
	}
	after, err := d.with(ctx, next.Object)
	if err != nil {
		return change.Sides{}, err
	}
	running := dryrun.Stack{File: s.File, Object: stored, Decoded: true}
	sides := change.Sides{Running: running, Annotations: next.Object.Annotations, Input: inputOf(stored, known)}
	sides.Before, sides.After = before.With(known).PlanChange(running, after.With(known), next)
	claim, err := d.reader.Claim(ctx, stored)
	if err != nil {
		return sides, err
	}
	if claim != nil {
		sides.Volume(next, claim)
	}
	return sides, compare.Try(ctx, d.reader.Cluster,
		compare.Planned{Stack: next, Outcome: &sides.After}, compare.Planned{Stack: running, Outcome: &sides.Before})
}

// with returns the ConfigMaps and Secrets that a stack may refer to. A ConfigMap in the files takes precedence over the
// ConfigMap in the cluster. Secrets come only from the files.
func (d *differ) with(ctx context.Context, object *v1alpha2.LlamaStackDistribution) (*dryrun.Manifests, error) {
	m, err := d.reader.References(ctx, object)
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
