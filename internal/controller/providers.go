package controller

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig"
)

// observeProviders notes what the running server says of its providers. Until it
// has answered, what the one before said stays; where it does not tell, nothing
// does. No condition depends on it: a service elsewhere is not the stack.
func observeProviders(s *state, answer probe.Answer) {
	if !answer.Concluded {
		return
	}
	if len(answer.Providers) == 0 {
		forgetProviders(s)
		return
	}
	settings := stackconfig.RedactedSettings(configurationOf(s))
	providers := slices.Clone(answer.Providers)
	for i := range providers {
		p := &providers[i]
		if shown, ok := settings[stackconfig.ProviderKey{API: p.API, ID: p.ProviderID, Type: p.ProviderType}]; ok {
			p.Config = &apiextensionsv1.JSON{Raw: shown}
		}
	}
	if s.object.Status.DistributionConfig == nil {
		s.object.Status.DistributionConfig = &v1alpha2.DistributionConfigStatus{}
	}
	s.object.Status.DistributionConfig.Providers = providers
}

// forgetProviders takes away what a server said that is not there any more.
func forgetProviders(s *state) {
	if s.object.Status.DistributionConfig != nil {
		s.object.Status.DistributionConfig.Providers = nil
	}
}

// configurationOf is the configuration file that the server reads, as far as it is
// known: the image's own is when the operator has a copy of it. Pods that keep what
// an older operator made do not read this one.
func configurationOf(s *state) []byte {
	switch {
	case s.deployment.Spec.Template.Annotations[names.AnnotationConfigHash] != s.planned.ConfigHash:
		return nil
	case s.planned.Config != nil:
		return s.planned.Config
	case s.planned.Mode == plan.ModeOverride:
		return override(s).Data
	case s.labelled != nil:
		return s.labelled
	default:
		return s.distribution.Base
	}
}

// certificateOf is the SHA-256 of the certificate that the server has to show;
// empty when the operator did not give it one.
func certificateOf(s *state) string {
	secret := render.TLSSecret(&s.object.Spec)
	if secret == "" {
		return ""
	}
	chain, _ := s.secrets.Get(secret, names.TLSCertificate)
	return resolve.Fingerprint(chain)
}

// scaledToZero says that there is no server, as was asked for.
func scaledToZero(s *state) bool {
	return slices.ContainsFunc(s.conditions, func(c metav1.Condition) bool {
		return c.Type == v1alpha2.ConditionAvailable && c.Reason == v1alpha2.ReasonScaledToZero
	})
}
