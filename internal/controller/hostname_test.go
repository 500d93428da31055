package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// TestHostnamePrecedence checks that the stack that already uses a host name takes precedence over a stack that does
// not, and otherwise the older stack over the newer one. For stacks that were created in the same second, the order is
// stable.
func TestHostnamePrecedence(t *testing.T) {
	const host = "llama.example.com"
	stack := func(uid string, second int64, routeURL string) *v1alpha2.LlamaStackDistribution {
		object := &v1alpha2.LlamaStackDistribution{}
		object.UID, object.CreationTimestamp, object.Status.RouteURL = types.UID(uid), metav1.NewTime(time.Unix(second, 0)),
			routeURL
		return object
	}
	for name, tc := range map[string]struct {
		a, b *v1alpha2.LlamaStackDistribution
	}{
		"older stack":                       {stack("b", 1, ""), stack("a", 2, "")},
		"same second":                       {stack("a", 1, ""), stack("b", 1, "")},
		"newer stack uses the host name":    {stack("b", 9, "https://"+host), stack("a", 1, "")},
		"only one stack uses the host name": {stack("b", 9, "http://"+host), stack("a", 1, "http://other."+host)},
		"both stacks use the host name":     {stack("b", 1, "http://"+host), stack("a", 2, "http://"+host)},
	} {
		if !precedes(tc.a, tc.b, host) || precedes(tc.b, tc.a, host) {
			t.Errorf("%s: the first stack does not precede the second one, or the second one precedes the first one", name)
		}
	}
}
