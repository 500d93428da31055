//go:build node

package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// This file contains the independent tests of user stories 1 to 6. After a stack is applied, the running server must be
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
	s.eventually(func() error { // the operator asks the server for its providers after its version
		object := &v1alpha2.LlamaStackDistribution{}
		err := s.get("my", object)
		config := object.Status.DistributionConfig
		if err == nil && (config == nil || !slices.ContainsFunc(config.Providers,
			func(p v1alpha2.ProviderInfo) bool { return p.ProviderID == "vllm" })) {
			err = fmt.Errorf("the providers in the status are %v", config)
		}
		return err
	})

	s.kubectl("delete", "pod", "vllm")
	s.models("vllm", "sk-second")
	s.apply(secret("vllm-creds", "token", "sk-second"))
	c.chat(url, "vllm/llama3.2-8b")
}

// Story 1, scenario 3: if a stack specifies only the name of a distribution, the server reads the configuration in its
// image.
func TestStory1DistributionAlone(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(stack("my", "distribution: {name: starter}\nworkload: {resources: "+small+"}"))
	c := s.client()
	if got := find(s.ready("my"),
		v1alpha2.ConditionConfigGenerated).Reason; got != v1alpha2.ReasonDistributionDefaultUsed {
		t.Errorf("ConfigGenerated has the reason %s", got)
	}
	providers := c.listed(s.service("my")+"/v1/providers", "provider_id")
	if providers["openai"] == nil || providers["vllm"] != nil {
		t.Errorf("providers %v", providers)
	}
	if got := s.kubectl("get", "configmaps", "--selector=app.kubernetes.io/instance=my", "--output=name"); got != "" {
		t.Errorf("ConfigMaps %s", got)
	}
}

const two = `
distribution: {name: starter}
providers:
  inference:
  - {id: primary, provider: vllm, endpoint: "http://primary:8000", apiKey: {secretKeyRef: {name: primary, key: token}}}
  - {%sprovider: vllm, endpoint: "http://fallback:8000", apiKey: {secretKeyRef: {name: fallback, key: token}}}
resources:
  models: [llama3.2-8b, {name: llama3.2-70b, provider: fallback}]
workload: {resources: ` + small + `}
`

// In story 2, a stack has several providers for one API, each with its own credentials.
func TestStory2SeveralProviders(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	if got, want := s.refused(stack("my", fmt.Sprintf(two, ""))), "needs an ID when an API has more than one"; !strings.Contains(got, want) {
		t.Errorf("without IDs: %s, want %q", got, want)
	}
	if got, want := s.refused(stack("my", fmt.Sprintf(two,
		"id: primary, "))), `more than one provider has "primary"`; !strings.Contains(got, want) {
		t.Errorf("the message for a duplicate ID is %s, want %q", got, want)
	}
	s.models("primary", "sk-primary")
	s.models("fallback", "sk-fallback")
	s.apply(secret("primary", "token", "sk-primary") + secret("fallback", "token", "sk-fallback") + stack("my",
		fmt.Sprintf(two, "id: fallback, ")))
	c := s.client()
	s.ready("my")
	for _, id := range []string{"primary", "fallback"} {
		c.provider(s.service("my"), id, map[string]any{"base_url": "http://" + id + ":8000/v1", "api_token": redacted})
	}
	c.chat(s.service("my"), "primary/llama3.2-8b")
	c.chat(s.service("my"), "fallback/llama3.2-70b")
}

// Story 3: models and tools are registered when the server starts. Release 0.6 is the last release whose configuration
// registers tools. Later releases register them automatically.
func TestStory3Resources(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(secret("creds", "key", "tvly-abc") + stack("my", `
distribution: {name: starter, version: "0.6"}
providers:
  inference:
  - {id: first, provider: vllm, endpoint: "http://first:8000"}
  - {id: second, provider: vllm, endpoint: "http://second:8000"}
  toolRuntime: {provider: tavily-search, apiKey: {secretKeyRef: {name: creds, key: key}}}
resources:
  models: [one, {name: other, provider: second}]
  tools: [websearch, rag]
workload: {resources: `+small+`}
`))
	c := s.client()
	s.ready("my")
	models := c.listed(s.service("my")+"/v1/models", "id")
	for _, want := range []string{"first/one", "second/other"} {
		if models[want] == nil {
			t.Errorf("no model %q in %v", want, models)
		}
	}
	tools := c.listed(s.service("my")+"/v1/toolgroups", "identifier")
	if got := tools["builtin::websearch"]["provider_id"]; got != "tavily-search" {
		t.Errorf("the provider of websearch is %v", got)
	}
	if tools["builtin::rag"] == nil {
		t.Errorf("there is no rag in %v", tools)
	}
}

// Story 4: the state is in PostgreSQL and Redis, and the credentials for both are in Secrets.
func TestStory4Storage(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.apply(secret("pg", "url", "postgresql://llama:pass%40word@postgres:5433/state") + secret("redis", "password", "sk-redis") + stack("my", `
distribution: {name: starter}
storage:
  kv: {type: redis, endpoint: "redis://redis:6379", password: {secretKeyRef: {name: redis, key: password}}}
  sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}
workload: {resources: `+small+`}
`))
	c := s.client()
	s.ready("my")
	var storage struct {
		Backends map[string]struct {
			Type string `json:"type"`
			Host string `json:"host"`
			Port any    `json:"port"`
			DB   string `json:"db"`
		} `json:"backends"`
	}
	c.ask(s.service("my")+"/v1/storage", &storage)
	if got := storage.Backends["sql_default"]; got.Type != "sql_postgres" || got.Host != "postgres" ||
		got.Port != 5433.0 || got.DB != "state" {
		t.Errorf("relational state in %+v", got)
	}
	if got := storage.Backends["kv_default"]; got.Type != "kv_redis" || !strings.HasSuffix(got.Host, "@redis") ||
		got.Port != 6379.0 {
		t.Errorf("key-value state in %+v", got)
	}
}

// Story 5: the stack has an Ingress with the host name in the spec, and serves HTTPS. The operator can request the
// server's version. TestRealServerExposure checks the certificate.
func TestStory5Exposure(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	certificate, key := testutil.NewCertificate(t, farAway)
	s.apply(tlsSecret("llama-tls", certificate, key) + stack("my", `
distribution: {name: starter}
networking:
  expose: {hostname: llama.`+s.namespace+`.example.com}
  tls: {enabled: true, secretName: llama-tls}
workload: {resources: `+small+`}
`))
	c := s.client()
	s.ready("my")
	https := strings.Replace(s.service("my"), "http:", "https:", 1)
	var health map[string]any
	c.ask(https+"/v1/health", &health)
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
	if got := s.refused(stack("my", spec+"providers: {inference: {provider: vllm, endpoint: \"http://vllm\"}}")); !strings.Contains(got, "overrideConfig") {
		t.Errorf("with providers: %s", got)
	}
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
