package absorb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// Reason is the reason why a part of the configuration has to stay in its ConfigMap.
type Reason struct {
	// Path is a key of the configuration, or a field of the spec.
	Path string
	// Why is a sentence without a subject. It contains no value of the configuration.
	Why string
}

// String returns the path and the reason.
func (r Reason) String() string { return r.Path + ": " + r.Why }

// Comment is a sentence about a field.
type Comment struct {
	// At is the path of the field: spec, providers, inference, 0, apiKey.
	At []string
	// Text is the text of the comment.
	Text string
}

// Result holds the replacement of overrideConfig, or the reasons why there is none.
type Result struct {
	// Spec holds the fields of the spec by their JSON names, as JSON values. It is nil if something stays.
	Spec map[string]any
	// Env holds variables for spec.workload.overrides.env, as JSON values.
	Env []any
	// Comments are about single fields. Remarks are about the whole.
	Comments []Comment
	Remarks  []string
	// Stays lists the parts that must remain in overrideConfig. It is empty if Spec replaces the configuration.
	Stays []Reason
}

// Config finds fields of the spec that give the configuration of overrideConfig. The input is that of plan.Build for
// the current stack, with Override. Config does not change it.
func Config(in plan.Input) Result {
	b, stays := begin(in)
	if len(stays) > 0 {
		return Result{Stays: bounded(stays)}
	}
	result := b.attempt(true)
	if len(result.Stays) > 0 {
		if plain := b.attempt(false); len(plain.Stays) == 0 {
			return plain
		}
	}
	result.Stays = bounded(result.Stays)
	return result
}

// maxStays bounds the number of reasons, because users do not read more.
const maxStays = 40

func bounded(stays []Reason) []Reason {
	if more := len(stays) - maxStays; more > 0 {
		return append(slices.Clip(stays[:maxStays]), Reason{"other parts", fmt.Sprintf("%d more", more)})
	}
	return stays
}

// builder finds the fields for one stack.
type builder struct {
	plan.Input
	// before is the plan of the stack with overrideConfig.
	before *plan.Plan
	// want is the user's configuration. base is the distribution's own configuration.
	want, base object
	// secrets holds the variables of the container that come from Secrets.
	secrets map[string]secretKey
	// remarks are about values that the server reads differently today.
	remarks []string
	// shown holds the strings of the base, which are not secrets even if they look like it.
	shown map[string]bool
}

// begin reads the two configurations. It returns the reasons that rule out any replacement.
func begin(in plan.Input) (*builder, []Reason) {
	b := &builder{Input: in, shown: map[string]bool{}}
	if stays := b.otherStart(); len(stays) > 0 {
		return nil, stays
	}
	var err error
	if b.before, err = plan.Build(in); err != nil {
		return nil, reasonsOf(err)
	}
	mounted := in.Override.Data
	if b.before.Config != nil { // a copy in which the number of workers or the certificate files are set
		mounted = b.before.Config
	}
	if b.want, err = read(mounted); err != nil {
		return nil, []Reason{{"ConfigMap " + in.Override.ConfigMapName + ", key " + in.Override.Key, err.Error()}}
	}
	if b.base, err = read(in.Distribution.Base); err != nil {
		return nil, []Reason{{"the distribution's configuration", err.Error()}}
	}
	b.asStarted()
	b.secrets = secretsOf(in.Object)
	texts(b.base, func(text string) { b.shown[text] = true })
	return b, nil
}

// read decodes a configuration, within the same size limits as any other configuration.
func read(data []byte) (object, error) {
	if len(data) > baseconfig.MaxSize {
		return nil, fmt.Errorf("has %d bytes, but a configuration may have at most %d", len(data), baseconfig.MaxSize)
	}
	root, err := baseconfig.Read(data)
	if err != nil {
		return nil, err
	}
	value, err := valueOf(root)
	if err != nil {
		return nil, err
	}
	found, _ := value.(object)
	return found, nil
}

// otherStart returns the reasons why the server reads anything other than one generated file in addition to its own
// base.
func (b *builder) otherStart() []Reason {
	spec, resolved := &b.Object.Spec, b.Distribution
	var stays []Reason
	stay := func(path, format string, args ...any) {
		stays = append(stays, Reason{path, fmt.Sprintf(format, args...)})
	}
	switch {
	case resolved.DetectedBy == distribution.Unknown:
		stay("spec.distribution", "the release of image %q is not known, so the configuration that its server reads is not "+
			"known either", resolved.Image)
	case resolved.Base == nil:
		stay("spec.distribution", "this command does not read the configuration in image %q, to which the fields of the "+
			"spec apply", resolved.Image)
	}
	overrides := intent.Overrides(spec)
	if len(overrides.Command) > 0 {
		stay("spec.workload.overrides.command", "the custom command determines which file the server reads")
	} else if len(overrides.Args) > 0 && names.Compat(b.Object.Annotations) {
		stay("spec.workload.overrides.args", "the server starts in another way with a generated configuration, and these "+
			"arguments do not fit it")
	}
	runtime := resolved.Release.Runtime
	for i := range overrides.Env {
		name := overrides.Env[i].Name
		setsFile := name != "" && (name == runtime.ConfigVariable || name == runtime.FactoryVariable)
		if setsFile && overrides.Env[i].Value != names.ConfigDir+"/"+names.ConfigFile {
			stay(fmt.Sprintf("spec.workload.overrides.env[%d]", i), "%s sets the file that the server reads", name)
		}
	}
	for i := range overrides.VolumeMounts {
		if mount := overrides.VolumeMounts[i].MountPath + "/"; strings.HasPrefix(mount, names.ConfigDir+"/") {
			stay(fmt.Sprintf("spec.workload.overrides.volumeMounts[%d]", i), "this volume is mounted at the path of the "+
				"configuration")
		}
	}
	if others := b.otherFiles(); len(others) > 0 {
		stay("ConfigMap "+b.Override.ConfigMapName, "is mounted completely, and has additional files: "+
			"%s", strings.Join(others, ", "))
	}
	return stays
}

// otherFiles returns the other keys that the pods of a v1alpha1 stack mount in addition to the configuration.
func (b *builder) otherFiles() []string {
	if !names.Compat(b.Object.Annotations) {
		return nil
	}
	var others []string
	for key := range b.Override.Files {
		if key != b.Override.Key {
			others = append(others, key)
		}
	}
	slices.Sort(others)
	return others
}

// render plans the stack with the fields, as if its data were where it is now.
func (b *builder) render(c *candidate) (*plan.Plan, *v1alpha2.LlamaStackDistribution, []Reason) {
	stack := b.Object.DeepCopy()
	stack.Spec.OverrideConfig = nil
	delete(stack.Annotations, names.AnnotationUserConfigNamespace)
	if err := c.into(stack); err != nil {
		return nil, nil, []Reason{{"spec", err.Error()}}
	}
	in, _, invalid := validate.Spec(stack)
	var stays []Reason
	for _, err := range invalid {
		stays = append(stays, Reason{c.placeOf(err.Field), err.Detail})
	}
	if len(stays) > 0 {
		return nil, nil, stays
	}
	input := b.Input
	input.Object, input.Intent, input.Override, input.Before = stack, in, nil, b.before.Places
	input.Base = &plan.Base{Data: b.Distribution.Base, Source: v1alpha2.ConfigSourceEmbedded}
	built, err := plan.Build(input)
	if err != nil {
		stays = reasonsOf(err)
		for i := range stays {
			stays[i].Path = c.placeOf(stays[i].Path)
		}
		return nil, nil, stays
	}
	return built, stack, nil
}

// reasonsOf returns the findings of the pipeline.
func reasonsOf(err error) []Reason {
	failed, ok := errors.AsType[*plan.ConfigError](err)
	if !ok || len(failed.Errors) == 0 {
		return []Reason{{"spec", err.Error()}}
	}
	var stays []Reason
	for _, finding := range failed.Errors {
		stays = append(stays, Reason{finding.Field, finding.Detail})
	}
	return stays
}
