package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

// CheckedBase is the result of checking the configuration of an image.
type CheckedBase struct {
	// Version is the schema version of the configuration.
	Version string
	// Warnings are the warnings for stacks that use the configuration as their base.
	Warnings []stackconfig.Finding
}

// CheckBase checks the configuration of an image against the release of the server in the image, as Build does for a
// stack that sets only the image, and whose container has further environment variables with unknown names. Every error
// is a *ConfigError.
func CheckBase(data []byte, of *distribution.Resolved) (CheckedBase, error) {
	base, err := baseconfig.ParseUncached(data)
	if err != nil {
		return CheckedBase{}, badBase(err)
	}
	checked := CheckedBase{Version: base.Version()}
	object := &v1alpha2.LlamaStackDistribution{}
	object.Name = "stack" // a configuration without a name gets the name of its stack
	object.Spec.Distribution.Image = of.Image
	wishes, errs := intent.FromObject(object)
	if len(errs) > 0 {
		return checked, invalidSpec(errs)
	}
	wishes.MoreVariables = true
	result, report := stackconfig.Generate(stackconfig.Input{
		Intent: wishes, Base: base, Release: of.Release, ReleaseUnknown: of.DetectedBy == distribution.Unknown,
	})
	p := &Plan{}
	p.releaseWarnings(of)
	checked.Warnings = append(append(p.Warnings, report.Warnings...), stackconfig.ClearText(base, of.Release)...)
	if result == nil {
		return checked, refused(Input{Distribution: *of}, report)
	}
	return checked, nil
}
