//go:build node && all

package node

import (
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const secure = `
distribution: {name: starter, version: "` + realRelease + `"}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama3.2-8b]}
networking:
  expose: {hostname: %[1]s}
  tls: {enabled: true, secretName: llama-tls}
workload: {resources: ` + realRequests + `}
`

// The test runs user story 5 with the real server. The server serves only HTTPS, with the certificate from the Secret.
// Clients that accept only this certificate and check its host name can connect. Probes and the operator can connect
// too, and the Ingress has the host name.
func TestRealServerExposure(t *testing.T) {
	s := newRealScenario(t, "server@"+realRelease)
	s.models("vllm", "sk-real")
	plain := s.service("my")
	https := strings.Replace(plain, "http:", "https:", 1)
	host := "llama." + s.namespace + ".example.com"
	certificate, key := testutil.NewCertificate(t, farAway, fmt.Sprintf("%s.%s.svc", names.Service("my"), s.namespace))
	s.apply(secret("vllm-creds", "token", "sk-real") + tlsSecret("llama-tls", certificate, key) + stack("my",
		fmt.Sprintf(secure, host)))
	c := s.client()
	c.options = []string{"-authority=" + string(certificate)}
	ready := s.ready("my")
	c.serves("my", https, realRelease)
	if got := ready.Status.ServiceURL; !strings.HasPrefix(got, "https:") {
		t.Errorf("the status has the address %q", got)
	}

	var answer map[string]any
	if err := c.try(plain+"/v1/version", &answer); err == nil {
		t.Error("the server also answers without HTTPS")
	}
	other, _ := testutil.NewCertificate(t, farAway)
	c.options = []string{"-authority=" + string(other)}
	if err := c.try(https+"/v1/version", &answer); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a client that expects another certificate: %v", err)
	}
	ingress := &networkingv1.Ingress{}
	if err := s.get(names.Ingress("my"), ingress); err != nil {
		t.Fatal(err)
	}
	if got := ingress.Spec.Rules[0].Host; got != host {
		t.Errorf("exposed as %q, want %q", got, host)
	}
}
