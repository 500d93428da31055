package validate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
)

// suspicious returns warnings about valid values that are probably mistakes.
func suspicious(c *checks) []string {
	return slices.Concat(disabledAndConfigured(c), variables(c), commandWithTLS(c), spreadOfNothing(c),
		workersWithoutCPU(c), autoscaledBelowReplicas(c), serviceless(c), ownNamesUsed(c), amounts(c), endpoints(c),
		scaledTwice(c), endlessDrain(c), unknownAnnotations(c))
}

// commandWithTLS warns about a command in a stack with TLS. The image's entrypoint reads the paths of the certificate
// and the key from the configuration, but a uvicorn process that the command starts does not.
func commandWithTLS(c *checks) []string {
	if !c.tls().Enabled || len(c.overrides().Command) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: the probes use HTTPS, so this command must serve HTTPS: use the certificate and the key in %s, or use the image's entrypoint",
		spec("workload", "overrides", "command"), names.TLSDir)}
}

// disabledAndConfigured warns about a disabled provider that is also configured, because the provider is ignored.
// Package stackconfig uses the same message, so that a caller of both packages can report the warning once.
func disabledAndConfigured(c *checks) []string {
	var warnings []string
	for _, provider := range c.intent.Providers {
		for i, text := range c.Spec.Disabled {
			api, id, one := strings.Cut(text, "/")
			if serverAPI(api) == provider.API && (!one || id == provider.ID) {
				warnings = append(warnings, fmt.Sprintf("%s: provider %q is ignored, because %s disables it; remove the provider or the entry",
					provider.Path, provider.ID, spec("disabled").Index(i)))
			}
		}
	}
	return warnings
}

// autoscaledBelowReplicas warns about a maxReplicas value below the stack's own replicas value. The autoscaler of a
// v1alpha1 stack never scales below the value of replicas, so such a maximum has no effect.
func autoscaledBelowReplicas(c *checks) []string {
	a, replicas := c.workload().Autoscaling, c.workload().Replicas
	if !profile.Of(c.Annotations).ReplicasAreLeast || a == nil || replicas == nil ||
		a.MaxReplicas < 1 || a.MaxReplicas >= *replicas {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d is less than %s, which is %d: the autoscaler of a v1alpha1 stack does not scale below the value of replicas, so the maximum is %d; raise maxReplicas or lower replicas",
		spec("workload", "autoscaling", "maxReplicas"), a.MaxReplicas, spec("workload", "replicas"), *replicas, *replicas)}
}

// serviceless warns about a name that is not valid for a Service. The name of a v1alpha1 stack can be valid for every
// object except the Service. The warning applies to a stack that requests a Service.
func serviceless(c *checks) []string {
	if !profile.Of(c.Annotations).ServiceIfAsked || (c.networking().Port == 0 && len(c.overrides().Env) == 0) {
		return nil
	}
	cluster := "Kubernetes"
	switch {
	case len(c.Name) <= maxObjectName && labelForm.MatchString(c.Name):
		return nil
	case len(c.Name) <= maxObjectName && !strings.Contains(c.Name, "."):
		cluster = "Kubernetes before 1.36"
	}
	return []string{fmt.Sprintf("%s: %q: %s does not accept a Service named %q, or an Ingress for such a Service, so the server runs without a Service; "+
		"to get a Service, create the stack with a name that begins with a letter and has at most %d lowercase letters, digits and %q",
		field.NewPath("metadata", "name"), c.Name, cluster, names.Service(c.Name), maxObjectName, "-")}
}
