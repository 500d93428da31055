package validate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// suspicious are warnings of what is valid and hardly meant.
func suspicious(c *checks) []string {
	return slices.Concat(disabledAndConfigured(c), variables(c), commandWithTLS(c), spreadOfNothing(c),
		workersWithoutCPU(c), autoscaledBelowReplicas(c), serviceless(c))
}

// commandWithTLS: the server's own entrypoint reads the certificate's files from
// the configuration, and uvicorn started by a command does not.
func commandWithTLS(c *checks) []string {
	if !c.tls().Enabled || len(c.overrides().Command) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: the probes ask by HTTPS, so this command has to serve it: take the two files in %s, or the image's own entrypoint",
		spec("workload", "overrides", "command"), names.TLSDir)}
}

// disabledAndConfigured: disabled wins, the provider is ignored. The engine says
// it in the same words, so that who has both tells it once.
func disabledAndConfigured(c *checks) []string {
	var warnings []string
	for _, provider := range c.intent.Providers {
		for i, text := range c.Spec.Disabled {
			api, id, one := strings.Cut(text, "/")
			if serverAPI(api) == provider.API && (!one || id == provider.ID) {
				warnings = append(warnings, fmt.Sprintf("%s: provider %q is ignored, because %s disables it",
					provider.Path, provider.ID, spec("disabled").Index(i)))
			}
		}
	}
	return warnings
}

// variables: the user's own entry wins over one that carries a secret.
func variables(c *checks) []string {
	var warnings []string
	for i, env := range c.overrides().Env {
		path := spec("workload", "overrides", "env").Index(i).Child("name")
		if _, both := c.Spec.SecretEnv[env.Name]; both {
			warnings = append(warnings, fmt.Sprintf("%s: %q is in secretEnv too, and this one wins", path, env.Name))
		}
		if strings.HasPrefix(env.Name, names.EnvPrefix) {
			warnings = append(warnings, fmt.Sprintf("%s: %q begins with %s, the operator's own variables, and replaces the one of that name",
				path, env.Name, names.EnvPrefix))
		}
	}
	return warnings
}

// autoscaledBelowReplicas: an autoscaler of a stack of v1alpha1 never goes below the stack's own replicas, so that a
// maximum below them has no effect.
func autoscaledBelowReplicas(c *checks) []string {
	a, replicas := c.workload().Autoscaling, c.workload().Replicas
	if !names.Compat(c.Annotations) || a == nil || replicas == nil || a.MaxReplicas < 1 || a.MaxReplicas >= *replicas {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d is less than %s, %d, below which the autoscaler of a stack of v1alpha1 does not go: it counts as %d; raise it or lower replicas",
		spec("workload", "autoscaling", "maxReplicas"), a.MaxReplicas, spec("workload", "replicas"), *replicas, *replicas)}
}

// serviceless: the name of a stack of v1alpha1 may be one that Kubernetes takes for every object but the Service. It is
// told where the stack asks for a Service.
func serviceless(c *checks) []string {
	if !names.Compat(c.Annotations) || (c.networking().Port == 0 && len(c.overrides().Env) == 0) {
		return nil
	}
	cluster := "Kubernetes"
	switch {
	case len(c.Name) <= maxObjectName && labelForm.MatchString(c.Name):
		return nil
	case len(c.Name) <= maxObjectName && !strings.Contains(c.Name, "."):
		cluster = "Kubernetes before 1.36"
	}
	return []string{fmt.Sprintf("%s: %q: %s makes no Service %q and no Ingress that leads to it: the server runs, and no Service leads to it; "+
		"for one take at most %d lower-case letters, digits and %q, a letter first",
		field.NewPath("metadata", "name"), c.Name, cluster, names.Service(c.Name), maxObjectName, "-")}
}
