package settingpath_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan/settingpath"
)

// TestVisit checks the paths and values of a configuration, and their order.
func TestVisit(t *testing.T) {
	const config = `
version: 2
apis: [inference]
providers:
  inference:
  - {provider_id: "${env.VLLM_URL:+vllm}", config: {url: "http://vllm", tls: {}}}
  - {config: {}}
registered_resources: {models: [{model_id: m, provider_id: vllm}], shields: []}
`
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(config), &document); err != nil {
		t.Fatal(err)
	}
	var got [][2]string
	settingpath.Visit(document.Content[0], func(path, value string) { got = append(got, [2]string{path, value}) })
	want := [][2]string{
		{"version", "2"},
		{"apis[inference]", "inference"},
		{"providers.inference[vllm].provider_id", "${env.VLLM_URL:+vllm}"},
		{"providers.inference[vllm].config.url", "http://vllm"},
		{"providers.inference[vllm].config.tls", "{}"},
		{"providers.inference[1].config", "{}"},
		{"registered_resources.models[m].model_id", "m"},
		{"registered_resources.models[m].provider_id", "vllm"},
		{"registered_resources.shields", "[]"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestProvider(t *testing.T) {
	for path, want := range map[string]string{
		"providers.inference[vllm].provider_type":        "inference/vllm",
		"providers.inference[vllm].provider_id":          "",
		"providers.inference[vllm].config.provider_type": "",
		"server.port":                                     "",
		"providers.inference[a/b].provider_type":          "inference/a/b",
		"registered_resources.models[m].provider_type[0]": "",
	} {
		if got := settingpath.Provider(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
