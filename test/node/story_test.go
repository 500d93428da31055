//go:build node

package node

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// This file contains the independent tests of user stories 1, 2, 5 and 6. TestRealServerResources and
// TestRealServerStorage are those of stories 3 and 4. After a stack is applied, the running server must be
// configured as the spec requires. The server is the stand-in, which answers requests about its configuration.

const simple = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
resources: {models: [llama3.2-8b]}
workload: {resources: ` + small + `}
`

// redacted is the text that a server shows in place of a credential.
const redacted = "********"

// Story 1 is a stack with a vLLM backend in a few lines. The server sends the token from the Secret to the model server
// with each completion, and the model server rejects every other token. When the token in the Secret changes, the pods
// receive the new token automatically.
func TestStory1SimpleInference(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.models("vllm", "sk-first")
	s.apply(secret("vllm-creds", "token", "sk-first") + stack("my", simple))
	c := s.client()
	s.ready("my")
	url := s.service("my")
	c.provider(url, "vllm", map[string]any{"base_url": "http://vllm:8000/v1", "api_token": redacted})
	c.chat(url, "vllm/llama3.2-8b")

	s.serverVersion("my", defaultRelease)
	// The operator asks the server for its providers after its version.
	s.until("my", func(found *v1alpha2.LlamaStackDistribution) error {
		config := found.Status.DistributionConfig
		if config == nil || !slices.ContainsFunc(config.Providers,
			func(p v1alpha2.ProviderInfo) bool { return p.ProviderID == "vllm" }) {
			return fmt.Errorf("the providers in the status are %v", config)
		}
		return nil
	})

	s.kubectl("delete", "pod", "vllm")
	s.models("vllm", "sk-second")
	s.apply(secret("vllm-creds", "token", "sk-second"))
	c.chat(url, "vllm/llama3.2-8b")
}

const two = `
distribution: {name: starter}
providers:
  inference:
  - {id: primary, provider: vllm, endpoint: "http://primary:8000", apiKey: {secretKeyRef: {name: primary, key: token}}}
  - id: fallback
    provider: vllm
    endpoint: "http://fallback:8000"
    apiKey: {secretKeyRef: {name: fallback, key: token}}
resources:
  models: [llama3.2-8b, {name: llama3.2-70b, provider: fallback}]
workload: {resources: ` + small + `}
`

// In story 2, a stack has several providers for one API, each with its own credentials.
func TestStory2SeveralProviders(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.models("primary", "sk-primary")
	s.models("fallback", "sk-fallback")
	s.apply(secret("primary", "token", "sk-primary") + secret("fallback", "token", "sk-fallback") + stack("my", two))
	c := s.client()
	s.ready("my")
	for _, id := range []string{"primary", "fallback"} {
		c.provider(s.service("my"), id, map[string]any{"base_url": "http://" + id + ":8000/v1", "api_token": redacted})
	}
	c.chat(s.service("my"), "primary/llama3.2-8b")
	c.chat(s.service("my"), "fallback/llama3.2-70b")
}

// farAway is long after the test, so that there is no warning about the expiry of a certificate.
var farAway = time.Now().Add(90 * 24 * time.Hour)

// tlsSecret returns a manifest of a Secret with a certificate.
func tlsSecret(name string, certificate, key []byte) string {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("---\napiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata: {name: %s}\ndata: {tls.crt: %s, tls.key: %s}\n",
		name, encode(certificate), encode(key))
}

// Story 5: the stack has an Ingress with the host name in the spec, and serves only HTTPS, with the certificate from
// the Secret. Clients that accept only this certificate and check its host name can connect. The operator can request
// the server's version.
func TestStory5Exposure(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	plain := s.service("my")
	https := strings.Replace(plain, "http:", "https:", 1)
	certificate, key := testutil.NewCertificate(t, farAway, fmt.Sprintf("%s.%s.svc", names.Service("my"), s.namespace))
	s.apply(tlsSecret("llama-tls", certificate, key) + stack("my", `
distribution: {name: starter}
networking:
  expose: {hostname: llama.`+s.namespace+`.example.com}
  tls: {enabled: true, secretName: llama-tls}
workload: {resources: `+small+`}
`))
	c := s.client()
	c.options = []string{"-authority=" + string(certificate)}
	if got := s.ready("my").Status.ServiceURL; !strings.HasPrefix(got, "https:") {
		t.Errorf("the status has the address %q", got)
	}
	var health map[string]any
	c.ask(https+"/v1/health", &health)
	if err := c.try(plain+"/v1/health", &health); err == nil {
		t.Error("the server also answers without HTTPS")
	}
	other, _ := testutil.NewCertificate(t, farAway)
	c.options = []string{"-authority=" + string(other)}
	if err := c.try(https+"/v1/health", &health); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a client that expects another certificate: %v", err)
	}
	ingress := &networkingv1.Ingress{}
	if err := s.get(names.Ingress("my"), ingress); err != nil {
		t.Fatal(err)
	}
	if got, want := ingress.Spec.Rules[0].Host, "llama."+s.namespace+".example.com"; got != want {
		t.Errorf("exposed as %q, want %q", got, want)
	}
	s.serverVersion("my", defaultRelease)
}

const ownConfig = `
---
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data:
  config.yaml: |
    version: 2
    distro_name: own
    providers: {inference: [{provider_id: mine, provider_type: "remote::vllm", config: {base_url: "http://mine/v1"}}]}
`

// Story 6 uses a user's ConfigMap as the whole configuration. The status reports a missing ConfigMap, and the stack
// recovers when the ConfigMap is created.
func TestStory6Override(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	const spec = "distribution: {name: starter}\noverrideConfig: {configMapName: own}\nworkload: {resources: " + small + "}\n"
	s.apply(stack("my", spec))
	waiting := s.condition("my", v1alpha2.ConditionReady, v1alpha2.ReasonConfigMapNotFound)
	if got := find(waiting, v1alpha2.ConditionValidationSucceeded).Message; !strings.Contains(got, `"own"`) {
		t.Errorf("message %q", got)
	}
	if pods, err := s.pods("my"); err != nil || len(pods) > 0 {
		t.Errorf("there are %d pods without a configuration, want none (%v)", len(pods), err)
	}
	s.apply(ownConfig)
	c := s.client()
	s.ready("my")
	c.provider(s.service("my"), "mine", map[string]any{"base_url": "http://mine/v1"})
}
