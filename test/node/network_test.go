//go:build node

package node

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
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

// impostors are pods that a tenant puts behind the Service of a stack with the labels of the stack's pods. One of them
// is also in an EndpointSlice of the tenant.
const impostors = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: impostors}
spec:
  replicas: 3
  selector: {matchLabels: {impostor: "yes"}}
  template:
    metadata: {labels: {impostor: "yes", app: llama-stack, app.kubernetes.io/instance: my}}
    spec:
      terminationGracePeriodSeconds: 1
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, runAsUser: 1001, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: llama-stack
        image: %[1]s
        command: [/standin]
        env: [{name: STANDIN_VERSION, value: 6.6.6}]
        resources: ` + small + `
        readinessProbe: {httpGet: {path: /v1/health, port: 8321}, periodSeconds: 1, timeoutSeconds: 10}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`

const impostorSlice = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: impostors, labels: {kubernetes.io/service-name: my-service}}
addressType: IPv4
ports: [{name: http, port: 8321}]
endpoints: [{addresses: [%q], conditions: {ready: true}}]
`

// The operator asks the pods of a stack for their version, and not the other pods behind the stack's Service, which
// answer first.
func TestImpostorsBehindTheService(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(fmt.Sprintf(impostors, standIn(defaultRelease)))
	s.kubectl("rollout", "status", "deployment/impostors", fmt.Sprintf("--timeout=%.0fs", s.patience.Seconds()))
	pods, err := s.pods("my")
	if err != nil || len(pods) != 3 {
		t.Fatalf("%d pods have the labels of the stack (%v), want 3", len(pods), err)
	}
	s.apply(fmt.Sprintf(impostorSlice, pods[0].Status.PodIP))
	s.apply(stack("my", "distribution: {name: starter}\nworkload: {resources: "+small+"}"))
	c := s.client()
	s.eventually(func() error { // the Service leads to an impostor
		var version map[string]any
		if err := c.try(s.service("my")+"/v1/version", &version); err != nil {
			return err
		}
		if version["version"] != "6.6.6" {
			return fmt.Errorf("version %v answers", version["version"])
		}
		return nil
	})
	s.until("my", func(found *v1alpha2.LlamaStackDistribution) error {
		if found.Status.Version == nil || found.Status.Version.LlamaStackServerVersion == "" {
			return errors.New("the status has no version")
		}
		if got := found.Status.Version.LlamaStackServerVersion; got != defaultRelease {
			t.Fatalf("the version in the status is %q, want %q", got, defaultRelease)
		}
		return nil
	})
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
