package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/offline"
)

// offlineVariables returns variables that prevent the server of an offline stack from accessing the internet.
func offlineVariables(in Input) []render.EnvVar {
	if !in.Object.Spec.Offline {
		return nil
	}
	var env []render.EnvVar
	for _, variable := range in.Distribution.Release.Offline.Variables {
		env = append(env, render.EnvVar{Name: variable.Name, Value: variable.Value})
	}
	return env
}

// offlineWarnings adds warnings about parts of the user's or the image's configuration that need the internet.
func (p *Plan) offlineWarnings(in Input) {
	const path = "spec.offline"
	if !in.Object.Spec.Offline {
		return
	}
	field, data := path, in.Distribution.Base
	switch {
	case p.Mode == ModeGenerated:
		return // the engine reports its errors and warnings
	case in.Override != nil:
		field, data = "spec.overrideConfig", in.Override.Data
	}
	if data == nil {
		p.warn(path, "the server's configuration in image %q is unknown, so the operator cannot report which parts of the configuration need the internet; add the configuration labels to the image, or set spec.baseConfig", in.Distribution.Image)
		return
	}
	p.Warnings = append(p.Warnings, offline.Findings(data, field, in.Intent, in.Distribution.Release)...)
}
