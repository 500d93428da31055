package modellist_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/modellist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestFromConfig(t *testing.T) {
	const entries = `
  - {model_id: llama, provider_id: vllm}
  - {model_id: small, provider_id: vllm, provider_model_id: org/small}
  - {model_id: embed, provider_id: local, metadata: {embedding_dimension: 4}, model_type: embedding}
  - {model_id: "${env.MODEL}", provider_id: vllm}
  - {model_id: "${env.MODEL:=given}", provider_id: vllm}
`
	for name, tc := range map[string]struct {
		config, line string
		want         []modellist.Model
	}{
		"current": {"registered_resources:\n  models:" + entries, "0.7", []modellist.Model{
			{ID: "(set by an environment variable)", Type: "llm", Provider: "vllm", ProviderModel: "${env.MODEL}"},
			{ID: "vllm/given", Type: "llm", Provider: "vllm", ProviderModel: "given"},
			{ID: "vllm/llama", Type: "llm", Provider: "vllm", ProviderModel: "llama"},
			{ID: "vllm/org/small", Type: "llm", Provider: "vllm", ProviderModel: "org/small"},
			{ID: "local/embed", Type: "embedding", Provider: "local", ProviderModel: "embed"},
		}},
		"0.2, an alias": {"models:\n  - {model_id: small, provider_id: vllm, provider_model_id: org/small}\n", "0.2", []modellist.Model{
			{ID: "small", Type: "llm", Provider: "vllm", ProviderModel: "org/small"},
		}},
		"unknown release": {"registered_resources:\n  models:\n  - {model_id: a, provider_id: p}\n", "99", []modellist.Model{
			{ID: "p/a", Type: "llm", Provider: "p", ProviderModel: "a"},
		}},
		"no models":   {"registered_resources: {models: []}", "0.7", nil},
		"no section":  {"version: 2", "0.7", nil},
		"empty":       {"", "0.7", nil},
		"not a list":  {"registered_resources: {models: 3}", "0.7", nil},
		"not a map":   {"[1]", "0.7", nil},
		"null models": {"models:", "0.2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := modellist.FromConfig([]byte(tc.config), tc.line)
			testutil.Must(t, err)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := modellist.FromConfig([]byte("a: ["), ""); err == nil ||
		!strings.HasPrefix(err.Error(), "the configuration is not valid YAML: ") {
		t.Errorf("got %v", err)
	}
}

// Sorted returns the LLMs first.
func TestSorted(t *testing.T) {
	models := []modellist.Model{{ID: "b", Type: "llm"}, {ID: "0", Type: "embedding"}, {ID: "a", Type: "llm"}}
	want := []modellist.Model{{ID: "a", Type: "llm"}, {ID: "b", Type: "llm"}, {ID: "0", Type: "embedding"}}
	if diff := cmp.Diff(want, modellist.Sorted(models)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
