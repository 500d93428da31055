package controller

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
)

// observeProviders records the providers and the models that the running server lists. Until the server has answered,
// those of the previous server stay. If the server lists no providers, they are removed. No condition depends on them,
// because a service elsewhere is not part of the stack. compat reports that users of v1alpha1 read the status.
func observeProviders(now *v1alpha2.LlamaStackDistributionStatus, answer probe.Answer, compat bool) {
	if !answer.Concluded {
		return
	}
	if len(answer.Providers) == 0 {
		forgetProviders(now)
		return
	}
	if now.DistributionConfig == nil {
		now.DistributionConfig = &v1alpha2.DistributionConfigStatus{}
	}
	now.DistributionConfig.Providers = slices.Clone(answer.Providers)
	if !compat {
		withoutHealth(now.DistributionConfig.Providers)
	}
	now.Models, now.ModelsLeftOut = slices.Clone(answer.Models.Listed), answer.Models.LeftOut
}

// withoutHealth removes the health of providers that the server does not check. From release 0.3 on, servers check
// none, and the same two lines for each provider hide the others.
func withoutHealth(providers []v1alpha2.ProviderInfo) {
	for i := range providers {
		if providers[i].Health.Status == v1alpha2.ProviderHealthNotImplemented {
			providers[i].Health = v1alpha2.ProviderHealthStatus{}
		}
	}
}

// forgetProviders removes the providers and the models of a server that no longer exists.
func forgetProviders(now *v1alpha2.LlamaStackDistributionStatus) {
	now.Models, now.ModelsLeftOut = nil, 0
	if now.DistributionConfig != nil {
		now.DistributionConfig.Providers = nil
	}
}

// certificateOf returns the SHA-256 of the certificate that the server has to present. It is empty if the operator did
// not configure one.
func certificateOf(spec *v1alpha2.LlamaStackDistributionSpec, secrets resolve.Values) string {
	secret := render.TLSSecret(spec)
	if secret == "" {
		return ""
	}
	chain, _ := secrets.Get(secret, names.TLSCertificate)
	return resolve.Fingerprint(chain)
}
