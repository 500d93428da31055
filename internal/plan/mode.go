package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// Mode says where the configuration of a stack comes from.
type Mode string

const (
	// ModeImageDefault: the image's own configuration runs unchanged, nothing is mounted.
	ModeImageDefault Mode = "ImageDefault"
	// ModeGenerated: made from a base and the spec.
	ModeGenerated Mode = "Generated"
	// ModeOverride: the user's own configuration, as it is but for what networking and workload ask for.
	ModeOverride Mode = "Override"
)

// ModeOf decides when a configuration is generated: when any part of the spec stands in it.
func ModeOf(spec *v1alpha2.LlamaStackDistributionSpec) Mode {
	switch {
	case spec.OverrideConfig != nil:
		return ModeOverride
	case configured(spec), needsServerSection(spec):
		return ModeGenerated
	default:
		return ModeImageDefault
	}
}

// NeedsBase reports whether Build needs a base configuration.
func NeedsBase(spec *v1alpha2.LlamaStackDistributionSpec) bool { return ModeOf(spec) == ModeGenerated }

// configured reports whether the spec asks anything of the configuration itself.
func configured(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return spec.Providers != nil || spec.Resources != nil || spec.Storage != nil || len(spec.Disabled) > 0 ||
		spec.Settings != nil || len(spec.RemoveSettings) > 0 || len(spec.ExternalProviders) > 0 || spec.BaseConfig != nil
}

// needsServerSection reports whether something outside of the configuration's own fields has to stand in it, also in an
// override.
func needsServerSection(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return render.Workers(spec) > 1 || render.TLSSecret(spec) != ""
}
