package release_test

import (
	"slices"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// onlyUser lists the required keys that have no default. Only the user can set these keys.
var onlyUser = map[string][]string{
	"file_processors/remote::unstructured-api": {"api_key"},
	"files/remote::openai":                     {"api_key"},
	"files/remote::s3":                         {"bucket_name"},
	"inference/remote::azure":                  {"api_key", "api_base"}, // api_base up to 0.3, api_key up to 0.2
	"inference/remote::hf::endpoint":           {"endpoint_name"},
	"inference/remote::hf::serverless":         {"huggingface_repo"},
	"inference/remote::oci":                    {"oci_compartment_id"},
	"inference/remote::tgi":                    {"url"}, // up to 0.3
	"inference/remote::vertexai":               {"project"},
	"inference/remote::vllm":                   {"url", "base_url"}, // url up to 0.3, base_url later
	"safety/remote::passthrough":               {"base_url"},
	"vector_io/remote::chromadb":               {"url"},
	"vector_io/remote::elasticsearch":          {"elasticsearch_url"},
	"vector_io/remote::milvus":                 {"uri"},
	"vector_io/remote::oci": {
		"conn_str", "user", "password", "tnsnames_loc", "ewallet_pem_loc",
		"ewallet_password",
	},
}

// For every provider type of every line, TestRequiredDefaultsLoad builds a config from only the defaults of the type.
// The only problem allowed is a missing key that only the user can set.
func TestRequiredDefaultsLoad(t *testing.T) {
	used := map[string]bool{}
	eachLine(t, func(t *testing.T, r *release.Release) {
		eachProvider(r, func(p *provider.Type) {
			var config provider.Fields
			for _, d := range p.Defaults("my-id", "starter") {
				config = append(config, provider.Field(d))
			}
			name := p.API + "/" + p.Type
			for _, problem := range p.Config.Check(provider.Node(config)) {
				if problem.Kind == schema.MissingChoice && name == "inference/remote::nvidia" {
					continue // up to 0.3, a rule requires a key for the hosted service
				}
				if problem.Kind != schema.MissingKey || !slices.Contains(onlyUser[name], problem.Path) {
					t.Errorf("%s: %s: %s", name, problem.Path, problem.Message())
				}
				used[name+" "+problem.Path] = true
			}
		})
	})
	for name, keys := range onlyUser {
		for _, key := range keys {
			if !used[name+" "+key] {
				t.Errorf("%s does not require %s in any line", name, key)
			}
		}
	}
}
