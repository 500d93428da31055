package dryrun

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/bounds"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// Outcome is the result of the pipeline for one stack: the plan, and messages. Plan is nil if the stack cannot be
// planned.
type Outcome struct {
	Plan     *plan.Plan
	Warnings []string
	// Lost lists the data that the change leaves behind.
	Lost []string
	// Notes lists remarks about valid settings.
	Notes  []string
	Errors []string
}

// Plan runs the controller's pipeline on a stack. It checks neither the existence of Secrets nor the labels of images,
// because it sends no requests to a cluster or a registry.
func (m *Manifests) Plan(s Stack) Outcome { return m.PlanSince(s, nil) }

// PlanChange plans a running stack, and the stack that replaces it with the objects that it refers to. Both plans start
// from the places where the running pods store data: those in the record or, without a record, those of the running
// stack's plan. Therefore, all commands report the same effects of a change.
func (m *Manifests) PlanChange(running Stack, next *Manifests, changed Stack) (before, after Outcome) {
	places := m.running.Record.Places
	before = m.PlanSince(running, places)
	if places == nil && before.Plan != nil {
		places = before.Plan.Places
		before = m.PlanSince(running, places)
	}
	return before, next.PlanSince(changed, places)
}

// Exposing returns the bounds of a namespace, and the settings of the cluster for the exposure of stacks.
func (m *Manifests) Exposing(namespace string) (*bounds.Rule, render.Cluster) {
	rule, _ := m.bounds(namespace)
	return rule, m.cluster()
}

// PlanSince is like Plan, but plans a change to a running stack. `before` contains the places where the running pods
// store data. Nil means that there is no running stack.
func (m *Manifests) PlanSince(s Stack, before *retention.Places) Outcome {
	var found Outcome
	if s.Decoded {
		m.plan(s, before, &found)
	}
	found.rename(s.Named)
	found.Errors = append(slices.Clone(s.Errors), found.Errors...)
	found.Warnings = append(slices.Clone(s.warnings), found.Warnings...)
	m.define(&s, &found)
	found.Errors = intent.WithoutFollowers(found.Errors)
	// Every value in a manifest can have a message.
	for _, texts := range []*[]string{&found.Errors, &found.Warnings, &found.Lost, &found.Notes} {
		*texts = intent.BoundedTexts(*texts)
	}
	return found
}

// plan validates and plans a decoded stack.
func (m *Manifests) plan(s Stack, before *retention.Places, found *Outcome) {
	in, warnings, tolerated, invalid := validate.Stored(s.Object)
	found.Warnings = append(found.Warnings, warnings...)
	if _, known := m.bounds(s.Object.Namespace); !known {
		found.Warnings = append(found.Warnings, m.unknownBounds(s.Object.Namespace))
	}
	told := &found.Errors
	if s.stored() {
		told = &found.Warnings
	}
	for _, err := range tolerated {
		*told = append(*told, intent.Message(err))
	}
	for _, err := range invalid {
		if !s.leftOut(err.Field) {
			found.Errors = append(found.Errors, intent.Message(err))
		}
	}
	if len(invalid) > 0 || len(s.unfit) > 0 {
		return
	}
	input, err := m.Input(s.Object, in, before)
	if err != nil {
		found.Refuse(err)
		return
	}
	found.Errors = append(found.Errors, m.secretProblems(in, stackconfig.WantsText(in, input.Distribution.Release))...)
	built, err := plan.Build(input)
	if built != nil {
		found.Errors = m.derivedProblems(s.Object.Namespace, built.Derived, found.Errors)
	}
	found.Notes = append(found.Notes, m.notes(&input, built)...)
	switch {
	case err != nil:
		found.Refuse(err)
	case input.LacksBase():
		found.Warn(built.Warnings)
	default:
		found.Plan = built
		found.Warn(built.Warnings)
		if m.HostOwner != nil {
			found.Warnings = append(found.Warnings, m.HostOwner.Message(s.Object))
		}
		waiting, unknown := built.Waiting() // the rollout waits for a decision by the user
		for _, loss := range built.Losses {
			if slices.ContainsFunc(waiting, func(l retention.Loss) bool { return l.String() == loss.String() }) {
				found.Errors = append(found.Errors, loss.String()+retention.Unknown(waiting, unknown))
			} else {
				found.Lost = append(found.Lost, loss.String())
			}
		}
	}
}

// leftOut reports whether a path leads to a value that does not fit its field, to a part of such a value, or to an
// object that contains one. Such a value already has an error.
func (s *Stack) leftOut(path string) bool {
	return slices.ContainsFunc(s.unfit, func(unfit string) bool { return within(path, unfit) || within(unfit, path) })
}

// within reports whether `path` is the same as `other`, or is below `other`.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// rename replaces the field paths in all messages with the paths in the document's API version.
func (o *Outcome) rename(name func(string) string) {
	for _, texts := range [][]string{o.Errors, o.Warnings, o.Lost, o.Notes} {
		for i := range texts {
			texts[i] = name(texts[i])
		}
	}
}

// Refuse records an error, or each finding of a failed plan.
func (o *Outcome) Refuse(err error) {
	failed, ok := errors.AsType[*plan.ConfigError](err)
	if !ok || len(failed.Errors) == 0 {
		o.Errors = append(o.Errors, err.Error())
		return
	}
	for _, finding := range failed.Errors {
		o.Errors = append(o.Errors, intent.Message(finding))
	}
	o.Warn(failed.Warnings)
}

// Warn records findings as warnings.
func (o *Outcome) Warn(findings []stackconfig.Finding) {
	o.Warnings = plan.Warnings(o.Warnings, findings)
}

// cluster returns the settings that apply to every stack. Without the operator's ConfigMap, they are the default ones.
func (m *Manifests) cluster() render.Cluster {
	cluster := m.Platform.Cluster(m.Config)
	cluster.ExposureUnknown = false
	return cluster
}

// Input returns the input for the plan of a stack.
func (m *Manifests) Input(
	object *v1alpha2.LlamaStackDistribution, in *intent.Intent, before *retention.Places,
) (input plan.Input, err error) {
	image, err := m.resolve(&object.Spec)
	if err != nil {
		return input, err
	}
	limits, _ := m.bounds(object.Namespace)
	running := &m.running
	last := &running.Record.Distribution
	input = plan.Input{
		Object: object, Intent: in, Distribution: image.Distribution, CatalogueImage: image.Catalog,
		Cluster: m.cluster(), OpenShift: m.Platform.OpenShift, Before: before, Bounds: limits,
		Unexposed: m.HostOwner != nil, Running: *running, Serving: m.serving(object),
		Unread: image.From != v1alpha2.ImageFromCatalogue &&
			!running.SameImage(object.Spec.Distribution, image.Distribution.Image),
	}
	if last.Digest != "" && last.Image == image.Distribution.Image {
		input.Digest, input.Distribution.Entrypoint = last.Digest, plan.RecordedEntrypoint(*last)
	}
	contents, err := m.Contents(object)
	if err != nil {
		return input, err
	}
	if input.Base, err = m.base(object, &image, input.Digest, contents); err != nil {
		return input, err
	}
	input.Override = plan.ReadOverride(object, contents)
	input.Trust, err = trust(object, contents)
	return input, err
}

// base returns the base configuration. It returns nil if there is no base and the plan does not require one.
func (m *Manifests) base(
	object *v1alpha2.LlamaStackDistribution, image *facts.Image, digest string, contents map[string]map[string][]byte,
) (*plan.Base, error) {
	sources := plan.BaseSources{
		Object: object, Running: &m.running, Image: *image, Digest: digest, ConfigMaps: contents,
		Kept: func(string) ([]byte, error) { return m.running.Base, nil },
	}
	if image.From != v1alpha2.ImageFromCatalogue {
		sources.Label = m.Image.Base
	}
	base, err := sources.Base()
	if base != nil || err != nil || !plan.NeedsBase(&object.Spec) || plan.BaseOptional(object) || m.NotesUnknown {
		return base, err
	}
	remedy := "set spec.baseConfig"
	if m.Image.Flags {
		remedy = "set --base to a file with the configuration, set spec.baseConfig"
	}
	return nil, fmt.Errorf("%s: %q: this command does not read the base configuration of an image; %s "+
		"and add the ConfigMap to the files, or set spec.overrideConfig; see docs/configuration.md",
		distributionField(&object.Spec), image.Distribution.Image, remedy)
}

// unusable returns the error for a ConfigMap that a stack in a namespace needs and cannot use.
func (m *Manifests) unusable(use intent.ConfigMapUse, namespace string) error {
	key := KeyOf(use, namespace)
	problem := "the files do not contain ConfigMap %q in namespace %q; add the ConfigMap with another --filename"
	switch {
	case m.ConfigMaps[key] != nil:
		return fmt.Errorf("%s: the stack cannot use ConfigMap %q in namespace %q; add the namespace %q to the "+
			"annotation %s on the ConfigMap", strings.TrimSuffix(use.Path, ".configMapName"), use.Name, use.Namespace, namespace,
			names.AnnotationAllowNamespaces)
	case elsewhere(m, m.ConfigMaps, key) != "":
		return fmt.Errorf("%s: %s", use.Path, m.inOther("ConfigMap", key, elsewhere(m, m.ConfigMaps, key)))
	case m.Denied[key]:
		problem = "you cannot read ConfigMap %q in namespace %q; ask an administrator for permission to get " +
			"ConfigMaps in this namespace"
	case m.Live:
		problem = "ConfigMap %q in namespace %q does not exist; create the ConfigMap"
	case m.Pasted:
		problem = "the text does not contain ConfigMap %q in namespace %q; add the ConfigMap as another document"
	}
	return fmt.Errorf("%s: "+problem, use.Path, key.Name, key.Namespace)
}

// Unreadable returns a sentence for each required ConfigMap that the caller cannot read.
func (m *Manifests) Unreadable(object *v1alpha2.LlamaStackDistribution) []string {
	var found []string
	for _, use := range intent.ConfigMaps(object) {
		if m.Denied[KeyOf(use, object.Namespace)] {
			found = append(found, m.unusable(use, object.Namespace).Error())
		}
	}
	return found
}
