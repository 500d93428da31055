package environment

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// These are the variables of the server's metrics endpoint. The port must be a number, but a Service named ogx-metrics
// would set the variable to a URL (server fact 27).
const (
	metricsEnabledVariable = "OGX_METRICS_ENDPOINT_ENABLED"
	metricsPortVariable    = "OGX_METRICS_PORT"
)

// ServiceLinks reports whether the pods have the variables that Kubernetes derives from the Services in the namespace
// (X_SERVICE_HOST, X_PORT). Only pods of v1alpha1 stacks can have these variables, because existing configurations of
// such stacks might read them. These pods always have the variables if the configuration or the user's settings read
// the variable of a Service (see readsService). Otherwise, the pods do not have the variables if the server, or the
// generated configuration, reads a port from a variable X_PORT that the container does not set. A Service named x would
// set X_PORT to a URL (server fact 27).
func ServiceLinks(in render.Input, generated []byte) bool {
	if !profile.Of(in.Stack.Annotations).ServiceLinks {
		return false
	}
	if readsService(in, generated) {
		return true
	}
	set := setVariables(in)
	if slices.Contains(set, metricsEnabledVariable) && !slices.Contains(set, metricsPortVariable) {
		return false
	}
	for reference := range envref.Server.All(string(generated)) {
		if strings.HasSuffix(reference.Name, "_PORT") && !slices.Contains(set, reference.Name) {
			return false
		}
	}
	return true
}

// readsService reports whether the configuration, or one of the user's settings for the container, reads a Service's
// variable.
func readsService(in render.Input, generated []byte) bool {
	user := intent.Overrides(&in.Stack.Spec)
	texts := slices.Concat([]string{string(generated)}, user.Command, user.Args)
	for i := range user.Env {
		texts = append(texts, user.Env[i].Value)
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, "_SERVICE_HOST") || strings.Contains(text, "_SERVICE_PORT")
	})
}

// setVariables returns the names of the variables that the container sets. They take precedence over those of Services.
func setVariables(in render.Input) []string {
	set := render.OwnVariables(in)
	for _, variable := range in.Secrets {
		set = append(set, variable.Name)
	}
	for _, variable := range intent.Overrides(&in.Stack.Spec).Env {
		set = append(set, variable.Name)
	}
	return set
}
