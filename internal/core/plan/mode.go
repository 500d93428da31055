package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Mode is the source of a stack's configuration.
type Mode string

const (
	// ModeImageDefault means that the server reads the image's own configuration, and pods mount no configuration.
	ModeImageDefault Mode = "ImageDefault"
	// ModeGenerated means that the operator generates the configuration from a base and the spec.
	ModeGenerated Mode = "Generated"
	// ModeOverride means that the server reads the user's own configuration. The operator adds only a few settings.
	ModeOverride Mode = "Override"
)

// ModeOf returns the mode for a spec. An overrideConfig takes precedence. Otherwise, the operator generates a
// configuration if the spec contains a setting for the server's configuration, requests more than one worker, or
// enables TLS and names the Secret with the server's certificate.
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

// NeedsBase reports whether Build uses a base configuration. Without a base configuration, Build fails unless
// BaseOptional returns true.
func NeedsBase(spec *v1alpha2.LlamaStackDistributionSpec) bool { return ModeOf(spec) == ModeGenerated }

// configured reports whether the spec contains settings for the server's configuration.
func configured(spec *v1alpha2.LlamaStackDistributionSpec) bool { return intent.Configured(spec) != "" }

// needsServerSection reports whether the server section of the configuration must contain settings for several workers
// or for the server's certificate, even if the configuration is the user's own.
func needsServerSection(spec *v1alpha2.LlamaStackDistributionSpec) bool {
	return render.Workers(spec) > 1 || render.TLSSecret(spec) != ""
}
