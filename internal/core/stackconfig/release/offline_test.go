package release_test

import (
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// withoutService lists remote types for which the user specifies the service in requests, or in keys other than the key
// for the endpoint.
var withoutService = []string{"tool_runtime/remote::model-context-protocol", "vector_io/remote::oci"}

// TestServices checks that each remote type that calls no service has a key for the endpoint, unless withoutService
// lists the type. The golden files of TestFacts show which types call a service or download files.
func TestServices(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		eachProvider(r, func(p *provider.Type) {
			name := p.API + "/" + p.Type
			if p.ServiceAtStart && p.Service == "" {
				t.Errorf("%s calls no service, but is marked as calling one at startup", name)
			}
			if p.IsRemote() && p.Service == "" && p.EndpointKey == "" && !slices.Contains(withoutService, name) {
				t.Errorf("%s has neither an endpoint nor a service", name)
			}
		})
	})
}
