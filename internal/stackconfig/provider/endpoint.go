package provider

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
)

// Endpoint returns what belongs into EndpointKey for an endpoint as the user wrote it: an http or https URL without a
// path gets EndpointPath; one with any path, `/` too, stays as it is, and so does everything else, an environment
// reference among it.
func (t *Type) Endpoint(endpoint string) string {
	if t.EndpointPath == "" || envref.IsMeant(endpoint) {
		return endpoint
	}
	scheme, rest, ok := strings.Cut(endpoint, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return endpoint
	}
	if rest == "" || strings.ContainsAny(rest, "/?#") {
		return endpoint
	}
	return endpoint + t.EndpointPath
}
