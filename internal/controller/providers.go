package controller

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
)

// observeProviders records the providers that the running server lists. Until the server has answered, the previous
// server's providers stay. If the server lists none, they are removed. No condition depends on them, because a service
// elsewhere is not part of the stack.
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

// forgetProviders removes the providers of a server that no longer exists.
func forgetProviders(now *v1alpha2.LlamaStackDistributionStatus) {
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
