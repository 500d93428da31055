package controller

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
)

// observeProviders notes what the running server says of its providers. Until it
// has answered, what the one before said stays; where it does not tell, nothing
// does. No condition depends on it: a service elsewhere is not the stack.
func observeProviders(now *v1alpha2.LlamaStackDistributionStatus, answer probe.Answer) {
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
}

// forgetProviders takes away what a server said that is not there any more.
func forgetProviders(now *v1alpha2.LlamaStackDistributionStatus) {
	if now.DistributionConfig != nil {
		now.DistributionConfig.Providers = nil
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
