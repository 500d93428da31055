package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// Mode is the source of a stack's configuration.
type Mode string

const (
	// ModeImageDefault means that the image's own configuration runs unchanged, and nothing is mounted.
	ModeImageDefault Mode = "ImageDefault"
	// ModeGenerated means that the configuration is generated from a base and the spec.
	ModeGenerated Mode = "Generated"
	// ModeOverride means that the user's own configuration runs, with only the changes for networking and workload.
	ModeOverride Mode = "Override"
)

// ModeOf returns the mode for a spec. A configuration is generated when the spec contains any setting for it.
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

// configured reports whether the spec configures the server's configuration itself.
func configured(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return spec.Providers != nil || spec.Resources != nil || spec.Storage != nil || len(spec.Disabled) > 0 ||
		spec.Settings != nil || len(spec.RemoveSettings) > 0 || len(spec.ExternalProviders) > 0 || spec.BaseConfig != nil ||
		spec.Distribution.BaseProviders == v1alpha2.BaseProvidersRequired
}

// needsServerSection reports whether the configuration needs settings for other fields of the spec, even with an
// override.
func needsServerSection(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return render.Workers(spec) > 1 || render.TLSSecret(spec) != ""
}
