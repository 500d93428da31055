package controller

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/redact"
)

// observeProviders notes what the running server says of its providers. Until it
// has answered, what the one before said stays; where it does not tell, nothing
// does. No condition depends on it: a service elsewhere is not the stack.
func observeProviders(now *v1alpha2.LlamaStackDistributionStatus, config []byte, answer probe.Answer) {
	if !answer.Concluded {
		return
	}
	if len(answer.Providers) == 0 {
		forgetProviders(now)
		return
	}
	settings := redact.Settings(config)
	providers := slices.Clone(answer.Providers)
	for i := range providers {
		p := &providers[i]
		if shown, ok := settings[redact.ProviderKey{API: p.API, ID: p.ProviderID, Type: p.ProviderType}]; ok {
			p.Config = &apiextensionsv1.JSON{Raw: shown}
		}
	}
	if now.DistributionConfig == nil {
		now.DistributionConfig = &v1alpha2.DistributionConfigStatus{}
	}
	now.DistributionConfig.Providers = providers
}

// forgetProviders takes away what a server said that is not there any more.
func forgetProviders(now *v1alpha2.LlamaStackDistributionStatus) {
	if now.DistributionConfig != nil {
		now.DistributionConfig.Providers = nil
	}
}

// configurationOf is the configuration file that the server reads, as far as it is
// known: the image's own is when the operator has a copy of it. Pods that keep what
// an older operator made do not read this one.
func configurationOf(s *state) []byte {
	switch made := s.planned.plan; {
	case s.live().deployment.Spec.Template.Annotations[names.AnnotationConfigHash] != made.ConfigHash:
		return nil
	case made.Config != nil:
		return made.Config
	case made.Mode == plan.ModeOverride:
		return s.planned.input.Override.Data
	case s.labels.config != nil:
		return s.labels.config
	default:
		return s.labels.distribution.Base
	}
}

// certificateOf is the SHA-256 of the certificate that the server has to show;
// empty when the operator did not give it one.
func certificateOf(spec *v1alpha2.LlamaStackDistributionSpec, secrets resolve.Values) string {
	secret := render.TLSSecret(spec)
	if secret == "" {
		return ""
	}
	chain, _ := secrets.Get(secret, names.TLSCertificate)
	return resolve.Fingerprint(chain)
}
