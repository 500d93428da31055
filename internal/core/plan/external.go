package plan

import (
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

// external passes the external providers of the configuration to the renderers.
func (p *Plan) external(in Input, installed []stackconfig.ExternalProvider) {
	for i := range installed {
		one := &installed[i]
		p.input.External = append(p.input.External, render.ExternalProvider{
			API: one.API, ID: one.ID, Path: one.Path.String(), Image: pinned(one.Image, in.PackageDigests[one.ID]),
			PullPolicy: one.PullPolicy, Type: one.Type, Module: one.Module,
		})
	}
}

// External returns the external providers that the pods install, in installation order.
func (p *Plan) External() []render.ExternalProvider { return p.input.External }

// externalInputs returns the parts of the external providers that affect the pod template.
func (p *Plan) externalInputs() []string {
	var inputs []string
	for i := range p.input.External {
		one := &p.input.External[i]
		inputs = append(inputs, strings.Join([]string{
			one.Image, string(one.PullPolicy), one.API, one.ID, one.Type,
			one.Module,
		}, " "))
	}
	return inputs
}

// withExternal returns the user's configuration with the external providers, if there are any.
func (p *Plan) withExternal(in Input) ([]byte, error) {
	if len(in.Intent.External) == 0 {
		return in.Override.Data, nil
	}
	base, err := baseconfig.Parse(in.Override.Data)
	if err != nil {
		return nil, notGenerated(v1alpha2.ReasonConfigGenerationFailed, overrideError(in, err))
	}
	result, report := stackconfig.OverrideExternal(engineInput(in, base))
	if result == nil {
		return nil, refused(in, report)
	}
	p.Warnings = append(p.Warnings, report.Warnings...)
	p.Env = result.Env
	p.external(in, result.External)
	return result.Config, nil
}

func overrideError(in Input, err error) error {
	return fmt.Errorf("spec.overrideConfig: ConfigMap %q, key %q: %w", in.Override.ConfigMapName, in.Override.Key, err)
}

// copiedAsV1alpha1 adds the external providers to a copy of the user's configuration, and mounts this copy. A v1alpha1
// stack without external providers mounts the whole ConfigMap instead, so copiedAsV1alpha1 warns about the differences
// between the copy and the ConfigMap.
func (p *Plan) copiedAsV1alpha1(in Input) error {
	data, err := p.withExternal(in)
	if err != nil {
		return err
	}
	const path = "spec.overrideConfig.configMapName"
	if len(in.Override.Files) > 1 {
		p.warn(path, "the operator adds the external providers to a copy of key %q of ConfigMap %q, and does not mount the other keys: "+
			"if the server needs other keys, mount them with spec.workload.overrides.volumes and volumeMounts", in.Override.Key, in.Override.ConfigMapName)
	}
	if in.Override.Key != names.ConfigFile && intent.OwnCommand(&in.Object.Spec) {
		p.warn(path, "only the file %s, a copy of key %q of ConfigMap %q, contains the external providers: change your command so that it reads this file",
			names.ConfigPath, in.Override.Key, in.Override.ConfigMapName)
	}
	p.mount(in, data, hash(data))
	return nil
}
