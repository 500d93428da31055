package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestBoots checks the messages about stacks with which a real server did not start or did not work. An empty release
// means the default one.
func TestBoots(t *testing.T) {
	for name, tt := range map[string]struct {
		warning bool
		want    []string
	}{
		"wrong-family-faiss":     {want: []string{"persistence.backend: requires a backend of type kv_*"}},
		"wrong-family-files":     {want: []string{"metadata_store.backend: requires a backend of type sql_*"}},
		"wrong-family-quota":     {want: []string{"spec.settings.server.quota.kvstore.backend: requires a backend of type kv_*"}},
		"wrong-family-responses": {want: []string{"persistence.responses.backend: requires a backend of type sql_*"}},
		"alias-and-own-name":     {want: []string{`spec.resources.models[0]: the provider also lists the name "vllm/llama", for the model of spec.resources.models[1]`}},
		"default-model-of-another-release": {want: []string{
			`default_embedding_model.model_id: no model has the name "vllm/my-emb"`, `"vllm/llama" is a model of type llm, and this setting needs a model of type rerank`,
		}},
		"default-model-of-another-type": {want: []string{`"vllm/llama" is a model of type llm, and this setting needs a model of type rerank`}},
		"milvus-without-scheme":         {want: []string{"spec.providers.vectorIo.endpoint: must be a URL like http://milvus:19530"}},
		"tls-verify-path":               {want: []string{"network.tls.verify: must be true or false"}},
		"model-no-provider":             {want: []string{`is a model of type llm, and "sentence-transformers", the first inference provider`}},
		"mcp-without-endpoint":          {want: []string{"the server does not start without it; set mcpEndpoint"}},
		"key-of-another-type":           {warning: true, want: []string{"github_api_base_url belongs to another type than the chosen one"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := reportOf(t, filepath.Join("testdata", "boots", name+".yaml"))
			told := intent.Messages(report.Errors)
			if (told == "") != tt.warning {
				t.Errorf("errors: %s", told)
			}
			for _, warning := range report.Warnings {
				told += "\n" + warning.String()
			}
			for _, want := range tt.want {
				if !strings.Contains(told, want) {
					t.Errorf("want %q, got:\n%s", want, told)
				}
			}
		})
	}
}

func reportOf(t *testing.T, file string) *stackconfig.Report {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var stack v1alpha2.LlamaStackDistribution
	if err := yaml.UnmarshalStrict(data, &stack); err != nil {
		t.Fatal(err)
	}
	rel := release.Default()
	if version := stack.Spec.Distribution.Version; version != "" {
		match, err := release.Lookup(version)
		if err != nil {
			t.Fatal(err)
		}
		rel = match.Release
	}
	shipped, _ := rel.Distribution(stack.Spec.Distribution.Name)
	text := []byte(shipped.YAML)
	base, err := baseconfig.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	in, errs := intent.FromObject(&stack)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	_, report := stackconfig.Generate(stackconfig.Input{Intent: in, Base: base, Release: rel})
	return report
}
