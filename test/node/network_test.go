//go:build node

package node

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The test connects to a stack from several namespaces. Connections from the stack's own namespace and from a namespace
// with the allowed label succeed. Connections from a namespace without this label fail. Connections from the operator
// succeed too: the status contains the server's version only if the operator can connect.
func TestNetworkPolicy(t *testing.T) {
	t.Parallel()
	s, friend, stranger := newScenario(t), newScenario(t), newScenario(t)
	label(t, friend.namespace, "llama-access", s.namespace)
	s.apply(stack("my", fmt.Sprintf(`
distribution: {name: starter}
networking: {allowedFrom: {labels: [llama-access=%s]}}
workload: {resources: %s}
`, s.namespace, small)))
	url := s.service("my") + "/v1/health"
	from := map[string]clientPod{"own": s.client(), "friend": friend.client(), "stranger": stranger.client()}
	s.ready("my")
	var health map[string]any
	for _, name := range []string{"own", "friend"} {
		from[name].ask(url, &health)
	}
	s.eventually(func() error { // the rules might take effect only after the pods have started
		if _, err := from["stranger"].standin("get", "-timeout=2s", url); err == nil {
			return fmt.Errorf("a client in another namespace gets an answer")
		}
		return from["friend"].try(url, &health) // a server that is only slow refuses the client with the label too
	})
	s.serverVersion("my", defaultRelease)
}

func label(t *testing.T, namespace, key, value string) {
	t.Helper()
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if err := cluster.Get(t.Context(), client.ObjectKey{Name: namespace}, object); err != nil {
		t.Fatal(err)
	}
	object.Labels[key] = value
	if err := cluster.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}
