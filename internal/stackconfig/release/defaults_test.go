package release_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// TestRequiredDefaultsLoad builds, for every provider type, a config of nothing but its defaults. All that may be wrong
// with it is that a key is missing which only the user can know; those are listed.
func TestRequiredDefaultsLoad(t *testing.T) {
	want := map[string][]string{
		"files/remote::openai":       {"api_key"},
		"files/remote::s3":           {"bucket_name"},
		"inference/remote::vertexai": {"project"},
		"inference/remote::vllm":     {"base_url"},
		"safety/remote::passthrough": {"base_url"},
		"vector_io/remote::chromadb": {"url"},
		"vector_io/remote::milvus":   {"uri"},
		"vector_io/remote::oci":      {"conn_str", "user", "password", "tnsnames_loc", "ewallet_pem_loc", "ewallet_password"},
	}
	got := map[string][]string{}
	eachProvider(line07(t), func(p *provider.Type) {
		var config provider.Fields
		for _, d := range p.Defaults("my-id", "starter") {
			config = append(config, provider.Field(d))
		}
		name := p.API + "/" + p.Type
		for _, problem := range p.Config.Check(provider.Node(config)) {
			if problem.Kind != schema.MissingKey {
				t.Errorf("%s: %s: %s", name, problem.Path, problem.Message())
				continue
			}
			got[name] = append(got[name], problem.Path)
		}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys that only the user can know (-want +got):\n%s", diff)
	}
}

func TestRequiredDefaultsOf(t *testing.T) {
	tests := []struct{ api, kind, want string }{
		{"responses", "inline::builtin", `
persistence:
  agent_state:
    namespace: responses::my-id::agent_state
    backend: kv_default
  responses:
    table_name: responses_my_id
    backend: sql_default
`},
		{"files", "inline::localfs", `
storage_dir: ${env.FILES_STORAGE_DIR:=~/.llama/distributions/starter/files}
metadata_store:
  table_name: files_my_id_metadata
  backend: sql_default
`},
		{"vector_io", "inline::sqlite-vec", `
db_path: ${env.SQLITE_STORE_DIR:=~/.llama/distributions/starter}/sqlite_vec.db
persistence:
  namespace: vector_io::my-id
  backend: kv_default
`},
		{"vector_io", "inline::qdrant", `
path: ${env.QDRANT_PATH:=~/.llama/distributions/starter}/qdrant.db
persistence:
  backend: kv_default
  namespace: vector_io::my-id
`},
		{"vector_io", "remote::milvus", `
token: null
persistence:
  namespace: vector_io::my-id
  backend: kv_default
`},
		{"vector_io", "remote::pgvector", `
persistence:
  namespace: vector_io::my-id
  backend: kv_default
`},
		{"batches", "inline::reference", `
kvstore:
  namespace: batches::my-id
  backend: kv_default
`},
		{"inference", "remote::vllm", "{}\n"},
	}
	r := line07(t)
	for _, tt := range tests {
		t.Run(tt.api+"/"+tt.kind, func(t *testing.T) {
			p, ok := r.Provider(tt.api, tt.kind)
			if !ok {
				t.Fatal("no such type")
			}
			config := provider.Fields{}
			for _, d := range p.Defaults("my-id", "starter") {
				config = append(config, provider.Field(d))
			}
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), toYAML(t, provider.Node(config))); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
		})
	}
}

func toYAML(t testing.TB, node *yaml.Node) string {
	t.Helper()
	var out strings.Builder
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(node); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// hasPath follows keys through classes.
func hasPath(class *schema.Class, path []string) bool {
	key, ok := class.Key(path[0])
	if !ok || len(path) == 1 {
		return ok
	}
	for _, e := range append([]*schema.Expr{key.Type}, key.Type.Args...) {
		if e.Class != nil && hasPath(e.Class, path[1:]) {
			return true
		}
	}
	return false
}
