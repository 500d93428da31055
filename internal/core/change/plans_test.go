package change_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/change"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

func TestPlans(t *testing.T) {
	made := func(image, port, config string) *plan.Plan {
		in := render.Input{
			Stack: &v1alpha2.LlamaStackDistribution{}, Image: image, Server: render.Server{PortVariables: []string{port}},
			Secrets: []render.EnvVar{{Name: "TOKEN", SecretName: "creds", SecretKey: "token"}},
		}
		objects, err := render.Objects(in)
		if err != nil {
			t.Fatal(err)
		}
		models := []stackconfig.PublicModel{{Path: "spec.resources.models[0]", ID: image + "/m"}}
		return &plan.Plan{
			Config: []byte(config), Objects: objects, Models: models,
			Rendered: rollout.Rendered{Inputs: rollout.Inputs{Image: image}},
		}
	}
	before := made("server:1", "OLD_PORT", `
version: 2
apis: [agents, inference]
providers:
  agents:
  - {provider_id: reference, provider_type: "inline::reference", config: {persistence: {backend: kv}}}
  inference:
  - {provider_id: "${env.VLLM_URL:+vllm}", provider_type: "remote::vllm",
     config: {url: "http://vllm", api_token: "${env.TOKEN}"}}
  - {provider_id: openai, provider_type: "remote::openai", config: {}}
registered_resources:
  models: [{model_id: m, provider_id: vllm}]
`)
	after := made("server:2", "NEW_PORT", `
version: 2
apis: [inference, responses]
providers:
  inference:
  - {provider_id: openai, provider_type: "remote::openai", config: {}}
  - {provider_id: vllm, provider_type: "remote::vllm", config: {base_url: "http://vllm", api_token: "${env.TOKEN}"}}
  responses:
  - {provider_id: builtin, provider_type: "inline::builtin", config: {persistence: {backend: kv}}}
registered_resources:
  models: [{model_id: m, provider_id: openai}]
`)
	want := []change.Difference{
		{What: "image", From: "server:1", To: "server:2"},
		{What: "variable NEW_PORT", To: "8321"},
		{What: "variable OLD_PORT", From: "8321"},
		{What: "spec.resources.models[0] for clients", From: "server:1/m", To: "server:2/m"},
		{What: "provider agents/reference", From: "inline::reference"},
		{What: "provider responses/builtin", To: "inline::builtin"},
		{What: "apis[agents]", From: "agents"},
		{What: "apis[responses]", To: "responses"},
		{What: "providers.inference[vllm].config.base_url", To: "http://vllm"},
		{What: "providers.inference[vllm].config.url", From: "http://vllm"},
		{What: "providers.inference[vllm].provider_id", From: "${env.VLLM_URL:+vllm}", To: "vllm"},
		{What: "registered_resources.models[m].provider_id", From: "vllm", To: "openai"},
	}
	got, origins := change.Plans(before, after)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if origin := origins["provider responses/builtin"]; origin != plan.OriginBase {
		t.Errorf("the origin of a provider is %q", origin)
	}
	if got, _ := change.Plans(before, before); len(got) != 0 {
		t.Errorf("a plan differs from itself: %+v", got)
	}
	if got, _ := change.Plans(made("a", "P", ""), made("a", "P", "")); len(got) != 0 {
		t.Errorf("two plans without a configuration differ: %+v", got)
	}
}
