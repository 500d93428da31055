package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// outcome is the result of the pipeline for one stack: a plan, or errors.
type outcome struct {
	plan     *plan.Plan
	warnings []string
	// lost lists the data that a change leaves behind.
	lost []string
	// notes lists information about valid settings.
	notes []string
	errs  []string
}

// offline runs the pipeline of the controller on files. It skips what needs a cluster: the existence of Secrets and the
// labels of images.
func (m *manifests) offline(s stack) outcome { return m.offlineSince(s, nil) }

// offlineSince is like offline for a stack whose data is in the given places. Nil means that nothing runs.
func (m *manifests) offlineSince(s stack, before *retention.Places) outcome {
	var found outcome
	if s.decoded {
		m.plan(s, before, &found)
	}
	if s.older {
		found.rename(convert.OlderPaths)
	}
	found.errs = append(slices.Clone(s.errs), found.errs...)
	found.warnings = append(slices.Clone(s.warnings), found.warnings...)
	return found
}

// plan validates and plans a decoded stack.
func (m *manifests) plan(s stack, before *retention.Places, found *outcome) {
	in, warnings, invalid := validate.Spec(s.object)
	found.warnings = append(found.warnings, warnings...)
	for _, err := range invalid {
		if !s.leftOut(err.Field) {
			found.errs = append(found.errs, intent.Message(err))
		}
	}
	if len(invalid) > 0 || len(s.unfit) > 0 {
		return
	}
	built, err := m.build(s.object, in, before, found)
	if err != nil {
		found.refuse(err)
		return
	}
	found.plan = built
	found.warn(built.Warnings)
	found.data(built)
	for _, model := range built.Models {
		if model.Renamed() {
			found.notes = append(found.notes, model.String())
		}
	}
	found.notes = append(found.notes, externalNotes(built.External())...)
	if image, ok := m.unreadImage(&s.object.Spec); ok {
		found.notes = append(found.notes, fmt.Sprintf(
			"this command does not read the labels of image %q; in a cluster, the configuration and the release in its labels "+
				"take precedence",
			image))
	}
}

// externalNotes returns notes about what is not known of external providers before a pod starts, because this command
// reads no image.
func externalNotes(providers []render.ExternalProvider) []string {
	var notes []string
	for i := range providers {
		one := &providers[i]
		notes = append(notes, fmt.Sprintf("%s: this command does not read image %q; in a cluster, the operator reads its "+
			"label %s, or the pod reads the image when it starts; this determines the type and the module of %q, and whether "+
			"it serves the API that it is listed under; the pod then checks whether its package fits the server",
			one.Path, one.Image, externalprovider.Label, one.ID))
	}
	return notes
}

// leftOut reports whether a path is, contains or is part of a value that was left out. Such a value already has an
// error.
func (s *stack) leftOut(path string) bool {
	return slices.ContainsFunc(s.unfit, func(unfit string) bool { return within(path, unfit) || within(unfit, path) })
}

// within reports whether path is the path other or a path below it.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// rename replaces the field names in all messages by those of the document's version.
func (o *outcome) rename(name func(string) string) {
	for _, texts := range [][]string{o.errs, o.warnings, o.lost, o.notes} {
		for i := range texts {
			texts[i] = name(texts[i])
		}
	}
}

// unreadImage returns the image in the operator's ConfigMap that an operator would read the base configuration from.
func (m *manifests) unreadImage(spec *v1alpha2.LlamaStackDistributionSpec) (string, bool) {
	if !plan.NeedsBase(spec) || spec.BaseConfig != nil {
		return "", false
	}
	return m.config.Images.Image(spec.Distribution.Name, spec.Distribution.Version)
}

// refuse records an error. For a failed plan it records each finding.
func (o *outcome) refuse(err error) {
	failed, ok := errors.AsType[*plan.ConfigError](err)
	if !ok || len(failed.Errors) == 0 {
		o.errs = append(o.errs, err.Error())
		return
	}
	for _, finding := range failed.Errors {
		o.errs = append(o.errs, intent.Message(finding))
	}
	o.warn(failed.Warnings)
}

// warn records each finding once, because the spec rules report some of them too.
func (o *outcome) warn(findings []stackconfig.Finding) {
	for _, finding := range findings {
		if text := finding.String(); !slices.Contains(o.warnings, text) {
			o.warnings = append(o.warnings, text)
		}
	}
}

// cluster returns the settings in the operator's ConfigMap that apply to every stack. It assumes that the cluster
// serves the API of a configured Gateway.
func cluster(config operatorconfig.Config) render.Cluster {
	return render.Cluster{
		NetworkPolicies: config.Features.NetworkPolicies, Ingress: render.Ingress(config.Ingress),
		Gateway: (*render.Gateway)(config.Gateway), HTTPRoutes: config.Gateway != nil,
		BackendTLSPolicies: config.Gateway != nil,
	}
}

func (m *manifests) build(
	object *v1alpha2.LlamaStackDistribution, in *intent.Intent, before *retention.Places, found *outcome,
) (*plan.Plan, error) {
	input, err := m.input(object, in, before)
	if err != nil {
		return nil, err
	}
	found.errs = append(found.errs, m.secretProblems(in, input.Distribution.Release)...)
	built, err := plan.Build(input)
	if err == nil && input.Serving == nil {
		found.unreadCertificate(object, built)
	}
	return built, err
}

// input returns the input for the plan of a stack.
func (m *manifests) input(
	object *v1alpha2.LlamaStackDistribution, in *intent.Intent, before *retention.Places,
) (plan.Input, error) {
	var input plan.Input
	spec := &object.Spec
	resolved, err := distribution.Resolve(spec.Distribution.Name, spec.Distribution.Image, spec.Distribution.Version,
		m.config.Images)
	if err != nil {
		return input, fmt.Errorf("%s: %w", distribution.Path(err), err)
	}
	input = plan.Input{
		Object: object, Intent: in, Distribution: resolved, Cluster: cluster(m.config), Before: before,
		Bounds: m.config.Bounds.For(object.Namespace),
	}
	if plan.NeedsBase(spec) {
		if input.Base, err = m.base(object, resolved); err != nil {
			return input, err
		}
	}
	if spec.OverrideConfig != nil {
		if input.Override, err = m.override(object); err != nil {
			return input, err
		}
	}
	if input.Trust, err = m.trust(object); err != nil {
		return input, err
	}
	input.Serving = m.serving(object)
	return input, nil
}

// base returns the base configuration: the ConfigMap that the spec names, if it is in the files, or the operator's own
// copy.
func (m *manifests) base(object *v1alpha2.LlamaStackDistribution, resolved distribution.Resolved) (*plan.Base, error) {
	if source := object.Spec.BaseConfig; source != nil {
		data, err := m.configMapKey(object.Namespace, "spec.baseConfig", source.ConfigMapName, source.Key)
		if err != nil {
			return nil, err
		}
		return &plan.Base{Data: data, Source: v1alpha2.ConfigSourceConfigMap}, nil
	}
	if resolved.Base == nil && plan.BaseOptional(object) {
		return nil, nil
	}
	if resolved.Base == nil {
		path := "spec.distribution.image"
		if object.Spec.Distribution.Name != "" {
			path = "spec.distribution.name"
		}
		return nil, fmt.Errorf("%s: %q: this command does not read the base configuration of an image; set spec.baseConfig "+
			"and pass its ConfigMap in a file, or use overrideConfig; see docs/configuration.md",
			path, resolved.Image)
	}
	return &plan.Base{Data: resolved.Base, Source: v1alpha2.ConfigSourceEmbedded}, nil
}

// override returns the complete configuration that the spec names.
func (m *manifests) override(object *v1alpha2.LlamaStackDistribution) (*plan.Override, error) {
	const path = "spec.overrideConfig"
	use, found := intent.OverrideUse(object), plan.ReadOverride(object, m.contents(object))
	if found.Files == nil {
		if _, err := m.configMap(cmp.Or(use.Namespace, object.Namespace), path, use.Name); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: the stack may not use ConfigMap %q of namespace %q: add to its annotation %s the "+
			"namespace %q",
			path, use.Name, use.Namespace, names.AnnotationAllowNamespaces, object.Namespace)
	}
	if _, ok := found.Files[found.Key]; !ok && len(use.Keys)+len(use.AnyOf) > 0 {
		return nil, fmt.Errorf("%s.key: ConfigMap %q has no key %q", path, use.Name, found.Key)
	}
	return found, nil
}

func (m *manifests) configMapKey(namespace, path, name, key string) ([]byte, error) {
	key = cmp.Or(key, v1alpha2.DefaultConfigKey)
	configMap, err := m.configMap(namespace, path, name)
	if err != nil {
		return nil, err
	}
	if data, ok := configMapFiles(configMap)[key]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("%s.key: ConfigMap %q has no key %q", path, name, key)
}

func (m *manifests) configMap(namespace, path, name string) (*corev1.ConfigMap, error) {
	configMap, ok := m.configMaps[objectKey{namespace, name}]
	if !ok && m.live {
		return nil, fmt.Errorf("%s.configMapName: ConfigMap %q of namespace %q does not exist", path, name, namespace)
	}
	if !ok {
		return nil, fmt.Errorf("%s.configMapName: the files do not contain ConfigMap %q of namespace %q; add it with "+
			"another --filename",
			path, name, namespace)
	}
	return configMap, nil
}

// configMapFiles returns the keys of a ConfigMap as a pod sees them.
func configMapFiles(configMap *corev1.ConfigMap) map[string][]byte {
	return content(configMap.BinaryData, configMap.Data)
}

// content merges the binary data and the text data of a ConfigMap or Secret.
func content(data map[string][]byte, texts map[string]string) map[string][]byte {
	values := make(map[string][]byte, len(data)+len(texts))
	maps.Copy(values, data)
	for key, text := range texts {
		values[key] = []byte(text)
	}
	return values
}
