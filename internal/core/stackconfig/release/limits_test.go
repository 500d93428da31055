package release_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// TestLimits checks values that the code of a class or an adapter rejects, each with a value that the code accepts.
func TestLimits(t *testing.T) {
	const (
		responses = "responses/inline::builtin"
		rag       = "tool_runtime/inline::rag-runtime"
		search    = "tool_runtime/inline::file-search"
		passed    = "inference/remote::passthrough"
	)
	for _, tt := range []struct{ first, last, kind, refused, taken string }{
		{"", "0.4", "inference/inline::meta-reference", "{model: llama}", "{model: 'Llama3.2-1B-Instruct:int4-qlora-eo8'}"},
		{"0.4", "0.6", rag, vectorStores("rewrite_query_params: {prompt: ask}"), vectorStores("rewrite_query_params: {prompt: 'ask {query}'}")},
		{"0.7", "", search, vectorStores("rewrite_query_params: {max_tokens: 5000}"), vectorStores("rewrite_query_params: {max_tokens: 4096}")},
		{"0.7", "", search, vectorStores("rewrite_query_params: {temperature: 2.5}"), vectorStores("rewrite_query_params: {temperature: 2}")},
		{"0.4", "0.6", rag, vectorStores("file_search_params: {header_template: '{num_chunks} of file_search'}"), vectorStores("file_search_params: {header_template: '{num_chunks} of Knowledge_search'}")},
		{"0.7", "", search, vectorStores("file_search_params: {header_template: '{num_chunks}'}"), vectorStores("file_search_params: {header_template: '{num_chunks} of File_Search'}")},
		{"0.7", "", responses, vectorStores("context_prompt_params: {chunk_annotation_template: '{index}'}"), vectorStores("context_prompt_params: {chunk_annotation_template: '{index} {chunk.content}'}")},
		{"0.7", "", responses, vectorStores("context_prompt_params: {context_template: ''}"), vectorStores("context_prompt_params: {context_template: '{query}'}")},
		{"0.7", "", responses, vectorStores("annotation_prompt_params: {chunk_annotation_template: '{index} {file_id}'}"), vectorStores("annotation_prompt_params: {chunk_annotation_template: '{index} {file_id} {chunk_text}'}")},
		{"0.7", "", responses, vectorStores("annotation_prompt_params: {annotation_instruction_template: ''}"), vectorStores("annotation_prompt_params: {annotation_instruction_template: a}")},
		{"1.1", "", responses, "{compaction_config: {tokenizer_encoding: cl100k}}", "{compaction_config: {tokenizer_encoding: cl100k_base}}"},
		{"1.1", "", responses, "{compaction_config: {model_tokenizer_mappings: {a: b}}}", "{compaction_config: {model_tokenizer_mappings: {a: o200k_base}}}"},
		{"0.7", "", passed, "{forward_headers: {a: 'X Y'}}", "{forward_headers: {a: X-Y}}"},
		{"0.7", "", passed, "{forward_headers: {a: Host}}", "{forward_headers: {a: X-Host}}"},
		{"0.7", "0.8", "safety/remote::passthrough", "{forward_headers: {a: cookie}}", "{forward_headers: {a: X-Y}}"},
		{"0.5", "", "inference/remote::vllm", "{network: {tls: {ciphers: [fast]}}}", "{network: {tls: {ciphers: [ECDHE-RSA-AES128-GCM-SHA256]}}}"},
		{"0.4", "", "inference/remote::oci", "{oci_auth_type: resource}", "{oci_auth_type: config_file}"},
		{"", "", "vector_io/remote::chromadb", "{url: null}", "{url: 'http://chroma:8000'}"},
		{"", "", "vector_io/remote::chromadb", "{url: 'chroma:8000'}", "{url: 'http://chroma:8000'}"},
		{"", "", "vector_io/remote::milvus", "{uri: 'milvus:19530'}", "{uri: 'http://milvus:19530'}"},
		{"1.3", "", "vector_io/remote::neo4j", "{uri: 'neo4j:7687'}", "{uri: 'neo4j+s://neo4j:7687'}"},
		{"0.5", "0.6", "inference/remote::vllm", "{network: {tls: {verify: /ca.crt}}}", "{network: {tls: {verify: false}}}"},
		{"0.5", "0.6", "inference/remote::vllm", "{tls_verify: /etc/ca.crt}", "{tls_verify: false}"},
		{"0.5", "", "vector_io/remote::elasticsearch", "{elasticsearch_url: 'localhost:9200'}", "{elasticsearch_url: 'https://es:9200/x'}"},
		{"1.4", "", "sql_postgres", "{connection_string: host=db}", "{connection_string: 'postgresql://db/x'}"},
		{"1.4", "", "kv_postgres", "{connection_string: 'mysql://db'}", "{connection_string: 'postgres://db/x'}"},
		{"", "", "access", "{auth: {access_policy: [{permit: {actions: read}, when: user is boss}]}}", "{auth: {access_policy: [{permit: {actions: read}, when: user is not owner}]}}"},
		{"", "", "access", "{auth: {access_policy: [{permit: {actions: read}, unless: [user is owner, x]}]}}", "{auth: {access_policy: [{permit: {actions: read}, unless: [user with a in roles]}]}}"},
		{"0.4", "", "access", "{auth: {access_policy: [{permit: {actions: read}, when: resource is owned}]}}", "{auth: {access_policy: [{permit: {actions: read}, when: resource is unowned}]}}"},
		{"", "", "access", auth("type: kubernetes, api_server_url: kubernetes"), auth("type: kubernetes, api_server_url: 'https://kubernetes'")},
		{"", "", "access", auth("type: kubernetes, claims_mapping: {groups: ''}"), auth("type: kubernetes, claims_mapping: {groups: roles}")},
		{"1.4", "", "access", auth("type: upstream_header, principal_header: x, trusted_proxy_cidrs: [proxy]"), auth("type: upstream_header, principal_header: x, trusted_proxy_cidrs: [10.0.0.0/8, '::1']")},
		{"1.4", "", "access", auth("type: upstream_header, principal_header: x, trusted_proxy_cidrs: []"), auth("type: upstream_header, principal_header: x")},
		{"1.2", "", "access", "{tenancy: {default_tenant_id: a b}}", "{tenancy: {default_tenant_id: team-A}}"},
		{"1.2", "", "access", "{tls_config: {ciphers: [RC4]}}", "{tls_config: {ciphers: [ECDHE-RSA-AES256-GCM-SHA384]}}"},
		{"1.2", "", "access", "{tls_config: {ciphers: []}}", "{tls_config: {ciphers: null}}"},
	} {
		for _, line := range between(t, tt.first, tt.last) {
			if got := outOfBounds(t, line, tt.kind, tt.refused); got == 0 {
				t.Errorf("%s: %s takes %s", line, tt.kind, tt.refused)
			}
			if got := outOfBounds(t, line, tt.kind, tt.taken); got > 0 {
				t.Errorf("%s: %s refuses %s", line, tt.kind, tt.taken)
			}
		}
	}
}

func auth(config string) string { return "{auth: {provider_config: {" + config + "}}}" }

func vectorStores(inner string) string { return "{vector_stores_config: {" + inner + "}}" }

// outOfBounds counts the rejected values of a provider's config, a backend or the server's section.
func outOfBounds(t *testing.T, line, kind, config string) int {
	t.Helper()
	r := lineOf(t, line)
	class := r.Server
	if api, name, ok := strings.Cut(kind, "/"); ok {
		p, known := r.Provider(api, name)
		if !known {
			t.Fatalf("%s has no provider %s", line, kind)
		}
		class = p.Config
	}
	if backend, ok := r.Storage.Backend(kind); ok {
		class = backend.Class
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(config), &document); err != nil {
		t.Fatal(err)
	}
	count := 0
	problems := class.Check(document.Content[0])
	for i := range problems {
		if kind := problems[i].Kind; kind == schema.OutOfRange || kind == schema.WrongType {
			count++
		}
	}
	return count
}

// The parser requires the type of each authentication method, even when the class of the method has a default for the
// type.
func TestAuthenticationNeedsAType(t *testing.T) {
	for _, line := range release.Lines() {
		server := lineOf(t, line).Server
		for config, want := range map[string]int{
			auth(""): 1, auth("jwks: {uri: a}"): 1, auth("endpoint: 'http://a'"): 1, auth("type: github_token"): 0,
			auth("type: oauth2_token, jwks: {uri: a}"): 0, auth("type: custom, endpoint: a"): 0,
		} {
			var document yaml.Node
			if err := yaml.Unmarshal([]byte(config), &document); err != nil {
				t.Fatal(err)
			}
			missing := 0
			for _, problem := range server.Check(document.Content[0]) {
				if problem.Path == "auth.provider_config.type" {
					missing++
				}
			}
			if missing != want {
				t.Errorf("%s: %s: %d types are missing, want %d", line, config, missing, want)
			}
		}
	}
}

// A scoring function in the configuration requires a description, although its class does not.
func TestScoringFunctionsAreDescribed(t *testing.T) {
	for _, line := range between(t, "", "0.7") {
		resource, _ := lineOf(t, line).Resource("scoring_fns")
		if key, _ := resource.Class.Key("description"); !key.Required || key.Type.String() != "str" {
			t.Errorf("%s: the description is %s, required: %v", line, key.Type, key.Required)
		}
	}
}
