package absorb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// Reason is the reason why a part of the configuration must remain in its ConfigMap.
type Reason struct {
	// Path is a key of the configuration, or a field of the spec.
	Path string
	// Why is the reason. It contains no value that looks like a credential in clear text.
	Why string
}

// String returns the path and the reason.
func (r Reason) String() string { return r.Path + ": " + r.Why }

// reasonOf returns the reason for a stack that cannot be planned.
func reasonOf(err error) Reason {
	if path, why, ok := strings.Cut(err.Error(), ": "); ok && strings.HasPrefix(path, "spec.") {
		return Reason{path, why}
	}
	return Reason{"spec", err.Error()}
}

// Comment is a sentence about a field.
type Comment struct {
	// At is the path of the field, for example: spec, providers, inference, 0, apiKey.
	At []string
	// Text is the text of the comment.
	Text string
}

// Result holds the replacement for overrideConfig, or the reasons why there is none.
type Result struct {
	// Spec holds the fields of the spec as JSON values, keyed by their JSON names. It is nil if Stays is not empty.
	Spec map[string]any
	// Env holds variables for spec.workload.overrides.env, as JSON values.
	Env []any
	// Comments holds comments on individual fields. Remarks holds comments on the whole configuration.
	Comments []Comment
	Remarks  []string
	// Stays lists the parts that must remain in overrideConfig. It is empty if Spec replaces the configuration.
	Stays []Reason
}

// Config finds fields of the spec from which the operator generates the configuration in overrideConfig. The input is
// the plan.Build input for the current stack, and contains Override. Config does not change the input.
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

// maxStays limits the number of reasons, because users do not read long lists.
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
	// want is the user's configuration. base is the distribution's configuration.
	want, base object
	// secrets holds the variables of the container that come from Secrets.
	secrets map[string]secretKey
	// remarks describe the values in the configuration that have no effect in the current stack.
	remarks []string
	// shown holds the strings of the base, which are not secrets even if they look like secrets.
	shown map[string]bool
}

// begin reads the two configurations. It returns the reasons why no fields can replace overrideConfig.
func begin(in plan.Input) (*builder, []Reason) {
	b := &builder{Input: in, shown: map[string]bool{}}
	// With another start, the server cannot read a generated configuration.
	if stays := slices.Concat(b.unknownBase(), b.ownStart(), b.ownFiles()); len(stays) > 0 {
		return nil, stays
	}
	var err error
	// The server may already read this configuration, so its errors become warnings.
	in.Running.Deployment = &appsv1.Deployment{}
	if b.before, err = plan.Build(in); err != nil {
		return nil, reasonsOf(err)
	}
	mounted := in.Override.Data
	if b.before.Config != nil {
		// The pod reads a copy of the user's file. The copy can also set the number of workers and the certificate files, and
		// can contain external providers.
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

// read decodes a configuration. The size limits for base configurations apply.
func read(data []byte) (object, error) {
	if len(data) > baseconfig.MaxSize {
		return nil, fmt.Errorf("has %d bytes, but the limit is %d bytes; remove comments or unused sections", len(data), baseconfig.MaxSize)
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

// unknownBase returns a reason if the server's release, or the configuration in its image, is unknown.
func (b *builder) unknownBase() []Reason {
	switch image := b.Distribution.Image; {
	case b.Distribution.DetectedBy == distribution.Unknown:
		return []Reason{{"spec.distribution", fmt.Sprintf("the release of image %q is unknown, "+
			"so the configuration that the server reads is also unknown", image)}}
	case b.Distribution.Base == nil:
		return []Reason{{"spec.distribution", fmt.Sprintf("the fields of the spec apply to the configuration in image %q, "+
			"which this command does not read", image)}}
	default:
		return nil
	}
}

// ownStart returns a reason if the spec contains a command, or arguments that are not valid for a server with a
// generated configuration.
func (b *builder) ownStart() []Reason {
	switch overrides := intent.Overrides(&b.Object.Spec); {
	case len(overrides.Command) > 0:
		return []Reason{{"spec.workload.overrides.command", "the custom command determines which file the server reads"}}
	case len(overrides.Args) > 0 && profile.Of(b.Object.Annotations).MountsConfigMap:
		return []Reason{{"spec.workload.overrides.args", "if the operator generates the configuration, it starts the server differently, and these arguments are not valid"}}
	default:
		return nil
	}
}

// ownFiles returns the reasons why the server might read the user's files in addition to the configuration or instead
// of it.
func (b *builder) ownFiles() []Reason {
	overrides, runtime := intent.Overrides(&b.Object.Spec), b.Distribution.Release.Runtime
	var stays []Reason
	for i, variable := range overrides.Env {
		setsFile := slices.Contains([]string{runtime.ConfigVariable, runtime.FactoryVariable}, variable.Name)
		if variable.Name != "" && setsFile && variable.Value != names.ConfigPath {
			stays = append(stays, Reason{
				fmt.Sprintf("spec.workload.overrides.env[%d]", i), variable.Name + " sets the file that the server reads",
			})
		}
	}
	for i, mount := range overrides.VolumeMounts {
		if strings.HasPrefix(mount.MountPath+"/", names.ConfigDir+"/") {
			stays = append(stays, Reason{
				fmt.Sprintf("spec.workload.overrides.volumeMounts[%d]", i), "this volume is mounted at the configuration path",
			})
		}
	}
	if others := b.otherFiles(); len(others) > 0 {
		stays = append(stays, Reason{
			"ConfigMap " + b.Override.ConfigMapName,
			"the pods mount every key of this ConfigMap, including other files: " + strings.Join(others, ", "),
		})
	}
	return stays
}

// otherFiles returns the keys of the ConfigMap that the pods of a v1alpha1 stack mount in addition to the
// configuration.
func (b *builder) otherFiles() []string {
	if !profile.Of(b.Object.Annotations).MountsConfigMap {
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

// render plans the stack with the fields of a candidate. The stack's data remains in its current location.
func (b *builder) render(c *candidate) (*plan.Plan, *v1alpha2.LlamaStackDistribution, []Reason) {
	stack, err := c.stack()
	if err != nil {
		return nil, nil, []Reason{reasonOf(err)}
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

// reasonsOf returns the errors from plan.Build as reasons.
func reasonsOf(err error) []Reason {
	failed, ok := errors.AsType[*plan.ConfigError](err)
	if !ok || len(failed.Errors) == 0 {
		return []Reason{reasonOf(err)}
	}
	var stays []Reason
	for _, finding := range failed.Errors {
		stays = append(stays, Reason{finding.Field, finding.Detail})
	}
	return stays
}
