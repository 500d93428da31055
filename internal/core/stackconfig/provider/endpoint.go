package provider

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// Endpoint returns the value of EndpointKey for an endpoint as the user wrote it. It appends EndpointPath to an http or
// https URL without a path (server fact 10). A URL with a path (even `/`), a query or a fragment is unchanged, and so
// is any string that is not an http or https URL, including an environment reference.
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
