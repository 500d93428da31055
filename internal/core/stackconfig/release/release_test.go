package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// line07 returns the data of line 0.7, which the tests for details use.
func line07(t testing.TB) *release.Release { return lineOf(t, "0.7") }

// between returns the lines from `first` to `last`, inclusive. An empty `first` or `last` sets no limit.
func between(t testing.TB, first, last string) []string {
	t.Helper()
	var lines []string
	for _, line := range release.Lines() {
		if (first == "" || release.Compare(first, line) <= 0) && (last == "" || release.Compare(line, last) <= 0) {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		t.Fatalf("no line from %q to %q", first, last)
	}
	return lines
}

// TestRuntime checks how the server of each line starts. Each row lists the differences from the previous line.
func TestRuntime(t *testing.T) {
	want := release.Runtime{
		ConfigFile:        "run.yaml",
		Command:           []string{"llama", "stack", "run"},
		FactoryVariable:   "LLAMA_STACK_CONFIG",
		PortVariable:      "LLAMA_STACK_PORT",
		LoggingVariable:   "LLAMA_STACK_LOGGING",
		DataDir:           "~/.llama",
		DataDirVariable:   "LLAMA_STACK_CONFIG_DIR",
		DefaultPort:       8321,
		Host:              "0.0.0.0",
		ServerPortIgnored: true,
		HealthNeedsToken:  true,

		ModelsAskedAtStart: true,
		RegistryReplaces:   true,
		DistributionKey:    "image_name",
	}
	changes := map[string]func(r *release.Runtime){
		"0.3": func(r *release.Runtime) {
			r.Entrypoint, r.ConfigVariable = "/usr/local/bin/llama-stack-entrypoint.sh", "RUN_CONFIG_PATH"
			r.TelemetrySwitch, r.HealthNeedsToken, r.RegistryReplaces = "telemetry.enabled", false, false
			r.EntrypointKnown = true
		},
		"0.4": func(r *release.Runtime) {
			r.ConfigFile = "config.yaml"
			r.TelemetrySwitch, r.TelemetryVariables, r.IntrospectionUnverified = "", true, true
		},
		"0.5": func(r *release.Runtime) { r.DistributionKey = "distro_name" },
		"0.6": func(r *release.Runtime) { r.ModelsAskedAtStart = false },
		"0.8": func(r *release.Runtime) {
			r.Entrypoint, r.Command = "/usr/local/bin/ogx-entrypoint.sh", []string{"ogx", "stack", "run"}
			r.FactoryVariable, r.PortVariable, r.LoggingVariable = "OGX_CONFIG", "OGX_PORT", "OGX_LOGGING"
			r.DataDir, r.DataDirVariable, r.MovedDir = "~/.ogx", "OGX_CONFIG_DIR", "~/.llama"
		},
		"1.0": func(r *release.Runtime) {
			r.Command, r.RegistryKeepsNamespace, r.EntrypointKnown = []string{"ogx", "run"}, true, false
			r.IntrospectionUnverified = false
		},
		"1.1": func(r *release.Runtime) { r.ServerPortIgnored = false },
		"1.2": func(r *release.Runtime) { r.PlainHTTPRefused, r.WritesTemp = true, true },
		"1.5": func(r *release.Runtime) { r.EmptyAPIsServeNone = true },
	}
	eachLine(t, func(t *testing.T, r *release.Release) {
		if change, ok := changes[r.Line]; ok {
			change(&want)
		}
		if diff := cmp.Diff(want, r.Runtime); diff != "" {
			t.Errorf("runtime (-want +got):\n%s", diff)
		}
	})
}

// TestPackage checks the names of the package and of the module, which changed in 0.8.
func TestPackage(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		want := [2]string{"llama-stack", "llama_stack"}
		if release.Compare(r.Line, "0.8") >= 0 {
			want = [2]string{"ogx", "ogx"}
		}
		if got := [2]string{r.Package, r.Module}; got != want {
			t.Errorf("package and module %q, want %q", got, want)
		}
	})
}

// TestTopLevelKeys checks in which lines a key exists in the config.
func TestTopLevelKeys(t *testing.T) {
	for _, tt := range []struct{ path, first, last string }{
		{"apis", "", ""},
		{"image_name", "", ""},
		{"distro_name", "0.5", ""},
		{"storage.stores.metadata", "0.3", ""},
		{"metadata_store", "", "0.2"},
		{"inference_store", "", "0.2"},
		{"models", "", "0.2"},
		{"vector_dbs", "", "0.2"},
		{"registered_resources.models", "0.3", ""},
		{"registered_resources.shields", "0.3", "0.8"},
		{"registered_resources.connectors", "0.4", "0.4"},
		{"registered_resources.tool_groups", "0.3", ""},
		{"registered_resources.benchmarks", "0.3", "0.7"},
		{"connectors", "0.5", ""},
		{"telemetry.enabled", "0.3", "0.3"},
		{"vector_stores", "0.3", ""},
		{"safety.default_shield_id", "0.4", "0.8"},
		{"server.workers", "0.3", ""},
		{"server.host", "", ""},
		{"server.tls_certfile", "", ""},
		{"server.cors", "", "0.8"},
		{"server.quota", "", "0.8"},
		{"server.insecure", "1.2", ""},
		{"server.tls_config", "1.2", ""},
		{"server.port.nothing", "9", "9"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			eachLine(t, func(t *testing.T, r *release.Release) {
				want := (tt.first == "" || release.Compare(tt.first, r.Line) <= 0) &&
					(tt.last == "" || release.Compare(r.Line, tt.last) <= 0)
				if got := r.TopLevel.HasPath(tt.path); got != want {
					t.Errorf("has %s: %v, want %v", tt.path, got, want)
				}
			})
		})
	}
	for _, line := range between(t, "", "0.4") {
		if key, _ := lineOf(t, line).TopLevel.Key("image_name"); !key.Required {
			t.Errorf("%s: image_name is not required", line)
		}
	}
}

func TestAPIs(t *testing.T) {
	r := line07(t)
	tests := []release.API{
		{Name: "inference", Providable: true, RoutingTable: "models"},
		{Name: "vector_io", Providable: true, RoutingTable: "vector_stores"},
		{Name: "responses", Providable: true, NeedsProvider: true},
		{Name: "files", Providable: true, NeedsProvider: true},
		{Name: "models", Router: "inference"},
		{Name: "prompts", Internal: true},
	}
	for _, want := range tests {
		got, ok := r.API(want.Name)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("API(%q) (-want +got):\n%s", want.Name, diff)
		}
	}
	for _, gone := range []string{"telemetry", "agents", "post_training", "", "vectorIo"} {
		if _, ok := r.API(gone); ok {
			t.Errorf("0.7 has the API %q", gone)
		}
	}
	for _, name := range r.APIs() {
		api, ok := r.API(name)
		if !ok {
			t.Errorf("API %q is listed but not found", name)
		}
		if got := len(r.ProviderTypes(name)) > 0; got != api.Providable {
			t.Errorf("API %q has provider types: %v, providable: %v", name, got, api.Providable)
		}
	}
}

// providerFactsCases are the cases of TestProviderFacts.
var providerFactsCases = []struct{ first, last, api, kind, endpoint, path, credential, region string }{
	{"", "0.3", "inference", "remote::vllm", "url", "/v1", "api_token", ""},
	{"0.4", "", "inference", "remote::vllm", "base_url", "/v1", "api_token", ""},
	{"", "0.3", "inference", "remote::ollama", "url", "", "", ""},
	{"0.4", "", "inference", "remote::ollama", "base_url", "/v1", "", ""},
	{"", "", "inference", "remote::openai", "base_url", "/v1", "api_key", ""},
	{"", "0.3", "inference", "remote::azure", "api_base", "", "api_key", ""},
	{"0.4", "", "inference", "remote::azure", "base_url", "/openai/v1", "api_key", ""},
	{"", "0.3", "inference", "remote::bedrock", "", "", "", "region_name"},
	{"0.4", "1.0", "inference", "remote::bedrock", "", "", "api_key", "region_name"},
	{"1.1", "", "inference", "remote::bedrock", "", "", "aws_bedrock_bearer_token", "region_name"},
	{"", "0.3", "inference", "remote::watsonx", "url", "", "api_key", ""},
	{"0.4", "", "inference", "remote::watsonx", "base_url", "", "api_key", ""},
	{"", "0.3", "inference", "remote::together", "url", "/v1", "api_key", ""},
	{"0.4", "", "inference", "remote::together", "base_url", "/v1", "api_key", ""},
	{"", "0.3", "inference", "remote::fireworks", "url", "/inference/v1", "api_key", ""},
	{"0.4", "", "inference", "remote::fireworks", "base_url", "/inference/v1", "api_key", ""},
	{"", "0.3", "inference", "remote::groq", "url", "", "api_key", ""},
	{"0.4", "", "inference", "remote::groq", "base_url", "/openai/v1", "api_key", ""},
	{"", "0.3", "inference", "remote::nvidia", "url", "", "api_key", ""},
	{"0.4", "", "inference", "remote::nvidia", "base_url", "/v1", "api_key", ""},
	{"", "0.3", "inference", "remote::cerebras", "base_url", "", "api_key", ""},
	{"0.4", "", "inference", "remote::cerebras", "base_url", "/v1", "api_key", ""},
	{"", "0.3", "inference", "remote::sambanova", "url", "/v1", "api_key", ""},
	{"0.4", "", "inference", "remote::sambanova", "base_url", "/v1", "api_key", ""},
	{"", "", "inference", "remote::anthropic", "", "", "api_key", ""},
	{"", "", "inference", "remote::gemini", "", "", "api_key", ""},
	{"", "0.3", "inference", "remote::databricks", "url", "", "api_token", ""},
	{"0.4", "", "inference", "remote::databricks", "base_url", "/serving-endpoints", "api_token", ""},
	{"", "0.3", "inference", "remote::runpod", "url", "", "api_token", ""},
	{"0.4", "", "inference", "remote::runpod", "base_url", "", "api_token", ""},
	{"", "0.3", "inference", "remote::llama-openai-compat", "openai_compat_api_base", "/compat/v1", "api_key", ""},
	{"0.4", "", "inference", "remote::llama-openai-compat", "base_url", "/compat/v1", "api_key", ""},
	{"", "0.5", "inference", "remote::vertexai", "", "", "", ""},
	{"0.6", "", "inference", "remote::vertexai", "", "", "access_token", ""},
	{"", "0.3", "inference", "remote::passthrough", "url", "", "api_key", ""},
	{"0.4", "", "inference", "remote::passthrough", "base_url", "", "api_key", ""},
	{"", "0.3", "inference", "remote::tgi", "url", "", "", ""},
	{"", "0.6", "inference", "remote::hf::endpoint", "", "", "api_token", ""},
	{"0.4", "", "inference", "remote::oci", "", "", "", "oci_region"},
	{"0.6", "", "inference", "remote::llama-cpp-server", "base_url", "/v1", "api_key", ""},
	{"1.3", "", "inference", "remote::meta", "base_url", "/v1", "api_key", ""},
	{"1.3", "", "inference", "remote::deepseek", "base_url", "/v1", "api_key", ""},
	{"1.3", "", "inference", "remote::mistral", "base_url", "/v1", "api_key", ""},
	{"1.5", "", "inference", "remote::text-embeddings-inference", "base_url", "/v1", "api_key", ""},
	{"", "", "inference", "inline::sentence-transformers", "", "", "", ""},
	{"", "", "vector_io", "remote::pgvector", "host", "", "password", ""},
	{"", "", "vector_io", "remote::chromadb", "url", "", "", ""},
	{"", "", "vector_io", "remote::milvus", "uri", "", "token", ""},
	{"", "", "vector_io", "remote::qdrant", "url", "", "api_key", ""},
	{"", "", "vector_io", "remote::weaviate", "weaviate_cluster_url", "", "weaviate_api_key", ""},
	{"0.5", "", "vector_io", "remote::elasticsearch", "elasticsearch_url", "", "elasticsearch_api_key", ""},
	{"0.7", "", "vector_io", "remote::infinispan", "url", "", "password", ""},
	{"1.3", "", "vector_io", "remote::neo4j", "uri", "", "password", ""},
	{"", "", "vector_io", "inline::faiss", "", "", "", ""},
	{"", "0.8", "safety", "inline::llama-guard", "", "", "", ""},
	{"", "0.8", "safety", "remote::bedrock", "", "", "", "region_name"},
	{"", "0.8", "safety", "remote::nvidia", "guardrails_service_url", "", "", ""},
	{"", "0.8", "safety", "remote::sambanova", "url", "", "api_key", ""},
	{"0.6", "0.8", "safety", "remote::passthrough", "base_url", "/v1", "api_key", ""},
	{"", "", "tool_runtime", "remote::brave-search", "", "", "api_key", ""},
	{"", "", "tool_runtime", "remote::tavily-search", "", "", "api_key", ""},
	{"", "", "tool_runtime", "remote::model-context-protocol", "", "", "", ""},
	{"1.5", "", "tool_runtime", "remote::exa-search", "", "", "api_key", ""},
	{"0.8", "", "file_processors", "remote::docling-serve", "base_url", "", "api_key", ""},
	{"", "", "files", "remote::s3", "endpoint_url", "", "", "region"},
	{"0.4", "", "files", "remote::openai", "", "", "api_key", ""},
}

// TestProviderFacts checks the key for the endpoint, the path that is appended to a URL without a path, and the keys
// for the credential and for the region. It checks each case in all release lines from the first to the last line of
// the case.
func TestProviderFacts(t *testing.T) {
	for _, tt := range providerFactsCases {
		for _, line := range between(t, tt.first, tt.last) {
			p, ok := lineOf(t, line).Provider(tt.api, tt.kind)
			if !ok {
				t.Errorf("%s has no %s/%s", line, tt.api, tt.kind)
				continue
			}
			got := []string{p.EndpointKey, p.EndpointPath, p.CredentialKey, p.RegionKey}
			if diff := cmp.Diff([]string{tt.endpoint, tt.path, tt.credential, tt.region}, got); diff != "" {
				t.Errorf("%s: %s/%s: endpoint, path, credential, region (-want +got):\n%s", line, tt.api, tt.kind, diff)
			}
		}
	}
}

// TestProviderDetails checks the facts for which TestProviderFacts has no column.
func TestProviderDetails(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		vllm, _ := r.Provider("inference", "remote::vllm")
		if url, _ := vllm.Config.Key(vllm.EndpointKey); !url.Required || strings.Contains(url.Type.String(), "null") {
			t.Errorf("vllm's %s is not required: %s", vllm.EndpointKey, url.Type)
		}
		if oci, ok := r.Provider("inference", "remote::oci"); ok {
			if key, _ := oci.Config.Key("oci_compartment_id"); !key.Required {
				t.Error("the compartment of oci is not required")
			}
			if key, ok := oci.Config.Key("api_key"); !ok || !key.Internal {
				t.Error("the API key that oci never reads is offered")
			}
		}
		if bedrock, _ := r.Provider("inference", "remote::bedrock"); release.Compare(r.Line, "0.4") >= 0 {
			if key, ok := bedrock.Config.Key("api_key"); !ok || key.Name != bedrock.CredentialKey {
				t.Errorf("api_key of bedrock is read as %q", key.Name)
			}
		}
		pgvector, _ := r.Provider("vector_io", "remote::pgvector")
		if pgvector.PortKey != "port" {
			t.Errorf("pgvector's key for the port is %q", pgvector.PortKey)
		}
		for _, kind := range []string{"remote::together", "remote::fireworks"} {
			p, _ := r.Provider("inference", kind)
			if want := release.Compare(r.Line, "0.3") <= 0; p.EndpointIgnored != want {
				t.Errorf("%s: the endpoint is ignored: %v, want %v", kind, p.EndpointIgnored, want)
			}
		}
		files, _ := r.API("files")
		if want := r.Line != "1.5"; files.NeedsProvider != want {
			t.Errorf("files needs a provider: %v, want %v", files.NeedsProvider, want)
		}
	})
}

// TestCredentialIsOptional checks which services a server can call without a credential in the configuration.
func TestCredentialIsOptional(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		var optional []string
		eachProvider(r, func(p *provider.Type) {
			if p.CredentialOptional {
				optional = append(optional, p.API+"/"+p.Type)
			}
		})
		var want []string
		if release.Compare(r.Line, "1.1") >= 0 {
			want = append(want, "inference/remote::bedrock")
		}
		if release.Compare(r.Line, "0.6") >= 0 {
			want = append(want, "inference/remote::vertexai")
		}
		slices.Sort(optional)
		if !slices.Equal(optional, want) {
			t.Errorf("types with an optional credential: %v, want %v", optional, want)
		}
	})
}

// TestResourceIDs checks which types accept only certain resource names.
func TestResourceIDs(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		eachProvider(r, func(p *provider.Type) {
			want := map[string][]string{
				"safety/inline::code-scanner": {"code-scanner", "code-shield"},
				"safety/inline::prompt-guard": {"Prompt-Guard-86M"},
			}[p.API+"/"+p.Type]
			if !slices.Equal(p.ResourceIDs, want) {
				t.Errorf("%s takes %v, want %v", p.Type, p.ResourceIDs, want)
			}
			mcp := p.Type == "remote::model-context-protocol" && release.Compare(r.Line, "0.6") <= 0
			if got := p.ResourceNeeds == "mcp_endpoint"; got != mcp {
				t.Errorf("%s needs an address for each entry: %t, want %t", p.Type, got, mcp)
			}
		})
	})
}

func TestRegistersNothing(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		eachProvider(r, func(p *provider.Type) {
			want := p.API == "scoring" && (p.Type != "inline::llm-as-judge" || release.Compare(r.Line, "0.4") <= 0)
			if p.RegistersNothing != want {
				t.Errorf("%s registers nothing: %t, want %t", p.Type, p.RegistersNothing, want)
			}
		})
	})
}

// TestLists checks the types of the models that providers list and serve.
func TestLists(t *testing.T) {
	for _, tt := range []struct {
		line, kind, modelType, name string
		lists                       bool
	}{
		{"0.5", "remote::vllm", "embedding", "nomic-embed", false},
		{"0.6", "remote::vllm", "embedding", "org/Nomic-Embed", true},
		{"1.0", "remote::vllm", "embedding", "bge", false},
		{"1.1", "remote::vllm", "embedding", "bge", true},
		{"1.5", "remote::vllm", "rerank", "bge", false},
		{"1.5", "remote::openai", "embedding", "text-embedding-3-small", true},
		{"1.0", "remote::openai", "embedding", "text-embedding-ada-002", false},
		{"0.7", "remote::azure", "embedding", "text-embedding-3-small", false},
		{"0.7", "inline::transformers", "rerank", "Qwen/Qwen3-Reranker-0.6B", true},
		{"1.2", "inline::sentence-transformers", "llm", "llama", false},
		{"1.5", "remote::watsonx", "embedding", "any", true},
	} {
		match, err := release.Lookup(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		kind, _ := match.Release.Provider("inference", tt.kind)
		if got := kind.Lists.May(tt.modelType, tt.name); got != tt.lists {
			t.Errorf("%s of %s lists the %s model %q: %t, want %t", tt.kind, tt.line, tt.modelType, tt.name, got, tt.lists)
		}
		if got := kind.Lists.MayAny(tt.name); !got && tt.lists {
			t.Errorf("%s of %s lists no model %q", tt.kind, tt.line, tt.name)
		}
	}
	st, _ := line07(t).Provider("inference", "inline::sentence-transformers")
	if !slices.Equal(st.Serves, []string{"embedding"}) {
		t.Errorf("sentence-transformers serves %v", st.Serves)
	}
}

// TestEndpointNeeded checks which types have no default address and start without one.
func TestEndpointNeeded(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		eachProvider(r, func(p *provider.Type) {
			want := (p.Type == "remote::azure" || p.Type == "remote::databricks") && release.Compare(r.Line, "0.4") >= 0
			if p.EndpointNeeded != want {
				t.Errorf("%s needs an endpoint: %t, want %t", p.Type, p.EndpointNeeded, want)
			}
		})
	})
}

// TestBackendFamilies checks that the class of every store refers to the family of the store.
func TestBackendFamilies(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		for i := range r.Storage.Stores {
			if store := &r.Storage.Stores[i]; store.Class != nil && store.Class.BackendFamily != store.Family {
				t.Errorf("%s: the class %s refers to the family %q, want %q", store.Name, store.Class.Name, store.Class.BackendFamily, store.Family)
			}
		}
	})
}

// TestEveryProviderIsWhole checks the properties that every provider type of every line must have.
func TestEveryProviderIsWhole(t *testing.T) {
	for _, line := range release.Lines() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		eachProvider(match.Release, func(p *provider.Type) {
			name := line + " " + p.API + "/" + p.Type
			for what, key := range map[string]string{
				"endpoint": p.EndpointKey, "port": p.PortKey, "credential": p.CredentialKey, "region": p.RegionKey,
			} {
				if _, ok := p.Config.Key(key); key != "" && !ok {
					t.Errorf("%s: the %s key %q is not a key", name, what, key)
				}
			}
			if key, _ := p.Config.Key(p.CredentialKey); p.CredentialKey != "" && !key.Secret {
				t.Errorf("%s: the credential key %q is not secret", name, p.CredentialKey)
			}
			if p.EndpointPath != "" && (p.EndpointKey == "" || !strings.HasPrefix(p.EndpointPath, "/")) {
				t.Errorf("%s: endpoint path %q for the key %q", name, p.EndpointPath, p.EndpointKey)
			}
			for _, api := range slices.Concat(p.Requires, p.Optional) {
				if _, ok := match.Release.API(api); !ok {
					t.Errorf("%s needs the API %q, which the release does not have", name, api)
				}
			}
		})
	}
}

func eachProvider(r *release.Release, do func(*provider.Type)) {
	for _, api := range r.APIs() {
		for _, kind := range r.ProviderTypes(api) {
			p, _ := r.Provider(api, kind)
			do(p)
		}
	}
}

func TestResolveType(t *testing.T) {
	tests := []struct{ api, name, want string }{
		{"inference", "vllm", "remote::vllm"},
		{"inference", "remote::vllm", "remote::vllm"},
		{"inference", "sentence-transformers", "inline::sentence-transformers"},
		{"safety", "llama-guard", "inline::llama-guard"},
		{"vector_io", "faiss", "inline::faiss"},
		{"vector_io", "qdrant", "remote::qdrant"}, // both exist: the remote type has priority
		{"vector_io", "inline::qdrant", "inline::qdrant"},
		{"inference", "remote::faiss", ""},
		{"inference", "vlm", ""},
		{"telemetry", "meta-reference", ""},
		{"inference", "", ""},
	}
	r := line07(t)
	for _, tt := range tests {
		got := ""
		if p, ok := r.ResolveType(tt.api, tt.name); ok {
			got = p.Type
		}
		if got != tt.want {
			t.Errorf("ResolveType(%q, %q) = %q, want %q", tt.api, tt.name, got, tt.want)
		}
	}
}

func TestNearestType(t *testing.T) {
	r := line07(t)
	for name, want := range map[string]string{
		"vlm": "remote::vllm", "remote::vlm": "remote::vllm", "opnai": "remote::openai",
		"sentence-transformer": "inline::sentence-transformers", "zzzzzz": "", "": "",
	} {
		if got := r.NearestType("inference", name); got != want {
			t.Errorf("NearestType(%q) = %q, want %q", name, got, want)
		}
	}
	if got := r.NearestType("nothing", "vllm"); got != "" {
		t.Errorf("NearestType of an API without types = %q", got)
	}
}

// TestStorageCredentials checks the backends of each line: their family, where they read the password or a connection
// string, and their type.
func TestStorageCredentials(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		want := map[string]release.Backend{
			"kv_sqlite":    {Family: release.KV},
			"kv_redis":     {Family: release.KV, CredentialInHost: true},
			"kv_postgres":  {Family: release.KV, CredentialKey: "password"},
			"kv_mongodb":   {Family: release.KV, CredentialKey: "password"},
			"sql_sqlite":   {Family: release.SQL, NeedsDirectory: true},
			"sql_postgres": {Family: release.SQL, CredentialKey: "password"},
		}
		if len(r.Storage.Backends) != len(want) {
			t.Errorf("%d backends, want %d", len(r.Storage.Backends), len(want))
		}
		for name, backend := range want {
			got, ok := r.Storage.Backend(name)
			backend.Type, backend.TypeValue, backend.Class = name, name, got.Class
			if r.Line == "0.2" {
				_, backend.TypeValue, _ = strings.Cut(name, "_")
			}
			backend.EncodePassword = name == "sql_postgres" && release.Compare(r.Line, "0.8") <= 0
			if strings.HasSuffix(name, "_postgres") && release.Compare(r.Line, "1.4") >= 0 {
				backend.ConnectionStringKey = "connection_string"
			}
			if !ok || got != backend || got.Class == nil {
				t.Errorf("backend %s: %+v, want %+v", name, got, backend)
			}
			if kind, _ := got.Class.Key("type"); kind.Default != backend.TypeValue {
				t.Errorf("backend %s: the type is %v, want %s", name, kind.Default, backend.TypeValue)
			}
		}
		if _, ok := r.Storage.Backend("redis"); ok {
			t.Error("a backend without family is found")
		}
	})
}

// TestStores checks the stores of each line with their defaults for a config.
func TestStores(t *testing.T) {
	const (
		metadata      = "storage.stores.metadata kv {namespace: registry, backend: kv_default}"
		inference     = "storage.stores.inference sql {table_name: inference_store, backend: sql_default, max_write_queue_size: 10000, num_writers: 4}"
		conversations = "storage.stores.conversations sql {table_name: openai_conversations, backend: sql_default}"
		responses     = "storage.stores.responses sql {}"
		prompts       = "storage.stores.prompts kv {namespace: prompts, backend: kv_default}"
		connectors    = "storage.stores.connectors kv {namespace: connectors, backend: kv_default}"
	)
	sqlStores := []string{
		metadata, inference, conversations, responses,
		"storage.stores.prompts sql {table_name: prompts, backend: sql_default}",
		"storage.stores.connectors sql {table_name: connectors, backend: sql_default}",
		"storage.stores.vector_stores sql {}",
	}
	enabled := slices.Clone(sqlStores)
	enabled[1] = strings.Replace(inference, "}", ", enabled: true}", 1)
	for _, tt := range []struct {
		first, last string
		want        []string
	}{
		{"0.2", "0.2", []string{
			"metadata_store kv {type: sqlite, db_path: ${env.SQLITE_STORE_DIR:=~/.llama/distributions/starter}/registry.db}",
			"inference_store sql {type: sqlite, db_path: ${env.SQLITE_STORE_DIR:=~/.llama/distributions/starter}/inference_store.db}",
		}},
		{"0.3", "0.3", []string{
			metadata + " required",
			"storage.stores.inference sql {table_name: inference_store, backend: sql_default} required by inference",
			conversations + " required", responses,
		}},
		{"0.4", "0.4", []string{metadata, inference, conversations, responses, prompts}},
		{"0.5", "0.8", []string{metadata, inference, conversations, responses, prompts, connectors}},
		{"1.0", "1.3", sqlStores},
		{"1.4", "", enabled},
	} {
		for _, line := range between(t, tt.first, tt.last) {
			r := lineOf(t, line)
			var got []string
			for _, store := range r.Storage.Stores {
				text := store.Path + " " + store.Family + " " + inline(store.For("starter"))
				if store.Required {
					text += " required"
				}
				if store.NeededByAPI() {
					text += " required by " + store.RequiredBy
				}
				got = append(got, text)
				if (store.Class == nil) != r.Storage.Inline {
					t.Errorf("%s: store %s has class %v", line, store.Name, store.Class)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s: stores (-want +got):\n%s", line, diff)
			}
		}
	}
	for line, want := range map[string][2]bool{
		"0.2": {true, false}, "0.3": {false, true}, "0.4": {false, true},
		"0.5": {},
	} {
		if s := lineOf(t, line).Storage; [2]bool{s.Inline, s.Required} != want {
			t.Errorf("%s: inline %v, required %v, want %v", line, s.Inline, s.Required, want)
		}
	}
	storage := line07(t).Storage
	if _, ok := storage.Store("metadata"); !ok {
		t.Error("the metadata store is not found")
	}
	if _, ok := storage.Store("telemetry"); ok {
		t.Error("a store that does not exist is found")
	}
}

// TestStoresRequiredWithSettings checks that, from 1.1 on, some settings require a separate store for the vector
// stores.
func TestStoresRequiredWithSettings(t *testing.T) {
	for _, line := range between(t, "1.0", "") {
		store, ok := lineOf(t, line).Storage.Store("vector_stores")
		if want := line != "1.0"; !ok || (store.RequiredBy == "vector_io" && len(store.RequiredWith) == 2) != want {
			t.Errorf("%s: %+v", line, store)
		}
	}
}

// TestListsOfVectorStores checks which release is the first in which replicas find each other's vector stores. It also
// checks for which types of vector stores the replicas do not find the content.
func TestListsOfVectorStores(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		store, _ := r.Storage.Store("vector_stores")
		if want := release.Compare(r.Line, "1.2") >= 0; (store.ListOf == "vector_io") != want {
			t.Errorf("vector stores are listed by %q", store.ListOf)
		}
		eachProvider(r, func(p *provider.Type) {
			if want := p.Type == "inline::faiss"; p.InMemory != want {
				t.Errorf("%s/%s is in memory: %t, want %t", p.API, p.Type, p.InMemory, want)
			}
		})
	})
}

// TestInlineStores checks that, in 0.2, the default of a provider's store is a complete backend with its own file.
func TestInlineStores(t *testing.T) {
	r := lineOf(t, "0.2")
	for _, tt := range []struct{ api, kind, key, want string }{
		{"agents", "inline::meta-reference", "persistence_store", "agents_my_id_persistence_store.db"},
		{"agents", "inline::meta-reference", "responses_store", "agents_my_id_responses_store.db"},
		{"vector_io", "inline::faiss", "kvstore", "vector_io_my_id.db"},
		{"files", "inline::localfs", "metadata_store", "files_my_id.db"},
	} {
		p, _ := r.Provider(tt.api, tt.kind)
		value, _ := p.Default(tt.key, "my-id", "starter")
		want := "{type: sqlite, db_path: ${env.SQLITE_STORE_DIR:=~/.llama/distributions/starter}/" + tt.want + "}"
		if got := inline(value); got != want {
			t.Errorf("%s of %s/%s: %s, want %s", tt.key, tt.api, tt.kind, got, want)
		}
	}
}

// TestResources checks the details of the resource kinds of release 0.7, and which lists of resources each release
// drops. It also checks that the data of every kind in every line is complete.
func TestResources(t *testing.T) {
	const notNeeded = "built-in tools need no entry, and MCP servers are declared under connectors"
	r := line07(t)
	tests := map[string]release.Resource{
		"models": {
			Section: release.RegisteredResources, IDKey: "model_id", ProviderIDKey: "provider_model_id", NeedsProvider: true,
			API: "inference", PublicID: "{provider_id}/{provider_model_id}", PublicAlias: "{provider_id}/{provider_model_id}",
			RegistryType: "model",
		},
		"shields": {
			Section: release.RegisteredResources, IDKey: "shield_id", ProviderIDKey: "provider_shield_id",
			NeedsProvider: true, API: "safety", PublicID: "{shield_id}", PublicAlias: "{shield_id}",
			RegistryType: "shield",
		},
		"connectors": {Section: release.TopLevel, IDKey: "connector_id"},
		"tool_groups": {
			Section: release.RegisteredResources, IDKey: "toolgroup_id", NeedsProvider: true, API: "tool_runtime",
			RegistryType: "tool_group", Dropped: true, Instead: notNeeded,
		},
	}
	for kind, want := range tests {
		got, ok := r.Resource(kind)
		want.Kind, want.Class = kind, got.Class
		if !ok || got != want {
			t.Errorf("resource %s: %+v, want %+v", kind, got, want)
		}
	}
	if _, ok := r.Resource("vector_dbs"); ok {
		t.Error("0.7 has vector_dbs")
	}
	eachLine(t, func(t *testing.T, r *release.Release) {
		var dropped []string
		for _, resource := range r.Resources() {
			if resource.Dropped {
				dropped = append(dropped, resource.Kind+": "+resource.Instead)
			}
			if _, ok := resource.Class.Key(resource.IDKey); !ok {
				t.Errorf("%s: the ID key %q is not a key", resource.Kind, resource.IDKey)
			}
			if _, ok := r.API(resource.API); resource.API != "" && !ok {
				t.Errorf("%s: unknown API %q", resource.Kind, resource.API)
			}
			if path := strings.Trim(resource.Section+"."+resource.Kind, "."); !r.TopLevel.HasPath(path) {
				t.Errorf("%s: there is no key %s", resource.Kind, path)
			}
		}
		want := map[string][]string{
			"0.2": nil, "0.3": {"vector_stores: create vector stores at run time"},
			"0.4": {"connectors: declare MCP servers under tool_groups"}, "0.5": nil, "0.6": nil,
		}
		if expected, old := want[r.Line]; !old {
			want[r.Line] = []string{"tool_groups: " + notNeeded}
		} else {
			want[r.Line] = expected
		}
		if diff := cmp.Diff(want[r.Line], dropped); diff != "" {
			t.Errorf("dropped (-want +got):\n%s", diff)
		}
	})
}

// TestPublicIDs checks the ID by which clients request a registered resource.
func TestPublicIDs(t *testing.T) {
	for _, tt := range []struct{ first, last, kind, id, alias, any string }{
		{"0.2", "0.2", "models", "{provider_id}/{provider_model_id}", "{model_id}", ""},
		{"0.3", "0.7", "models", "{provider_id}/{provider_model_id}", "{provider_id}/{provider_model_id}", ""},
		{"0.8", "", "models", "{provider_id}/{model_id}", "{provider_id}/{model_id}", "all"},
		{"0.2", "0.8", "shields", "{shield_id}", "{shield_id}", ""},
	} {
		for _, line := range between(t, tt.first, tt.last) {
			got, ok := lineOf(t, line).Resource(tt.kind)
			if !ok || got.PublicID != tt.id || got.PublicAlias != tt.alias || got.AnyProvider != tt.any {
				t.Errorf("%s: %s are %q, alias %q, any %q", line, tt.kind, got.PublicID, got.PublicAlias, got.AnyProvider)
			}
		}
	}
}

// TestRegistry checks where the server stores registered resources, and which resources it registers without an entry
// in the configuration.
func TestRegistry(t *testing.T) {
	for _, tt := range []struct {
		first, last, prefix, expiration string
		published                       []string
		carried                         int
	}{
		{first: "0.2", last: "0.2"},
		{"0.3", "0.6", "distributions:registry:v10::", "TIMESTAMP", []string{"model", "scoring_function"}, 0},
		{"0.7", "0.7", "distributions:registry:v10::", "TIMESTAMP", []string{"model", "tool_group", "scoring_function"}, 0},
		{"0.8", "0.8", "distributions:registry:v10::", "TIMESTAMP", []string{"model", "tool_group"}, 0},
		{"1.0", "", "distributions:registry:v10::", "TIMESTAMPTZ", []string{"model", "tool_group"}, 7},
	} {
		for _, line := range between(t, tt.first, tt.last) {
			got := lineOf(t, line).Registry
			var published []string
			for _, p := range got.Published {
				published = append(published, p.Type)
			}
			if got.KeyPrefix != tt.prefix || got.ExpirationType != tt.expiration || len(got.Carried["vector_io"]) != tt.carried {
				t.Errorf("%s: registry is %+v", line, got)
			}
			if diff := cmp.Diff(tt.published, published); diff != "" {
				t.Errorf("%s: published types (-want +got):\n%s", line, diff)
			}
		}
	}
}

// TestRegistryTypes checks the type that the entries of each list have in the registry.
func TestRegistryTypes(t *testing.T) {
	for _, tt := range []struct{ first, last, kind, registryType string }{
		{"0.2", "0.2", "models", ""},
		{"0.3", "", "models", "model"},
		{"0.3", "0.8", "shields", "shield"},
		{"0.3", "", "vector_stores", "vector_store"},
		{"0.3", "0.7", "datasets", "dataset"},
		{"0.3", "0.7", "scoring_fns", "scoring_function"},
		{"0.3", "0.7", "benchmarks", "benchmark"},
		{"0.3", "", "tool_groups", "tool_group"},
		{"0.5", "", "connectors", ""},
	} {
		for _, line := range between(t, tt.first, tt.last) {
			got, ok := lineOf(t, line).Resource(tt.kind)
			if !ok || got.RegistryType != tt.registryType {
				t.Errorf("%s: %s are of type %q", line, tt.kind, got.RegistryType)
			}
		}
	}
}

// TestPublic checks the IDs that clients use for entries.
func TestPublic(t *testing.T) {
	for _, tt := range []struct{ line, kind, id, provider, own, want string }{
		{"0.2", "models", "fast", "vllm", "", "vllm/fast"},
		{"0.2", "models", "fast", "vllm", "meta/llama", "fast"},
		{"0.7", "models", "fast", "vllm", "", "vllm/fast"},
		{"0.7", "models", "fast", "vllm", "fast", "vllm/fast"},
		{"0.7", "models", "fast", "vllm", "meta/llama", "vllm/meta/llama"},
		{"0.8", "models", "fast", "vllm", "meta/llama", "vllm/fast"},
		{"0.8", "models", "claude", "all", "auto", "claude"},
		{"0.7", "models", "vllm/fast", "vllm", "", "vllm/vllm/fast"},
		{"0.8", "models", "vllm/fast", "vllm", "meta/llama", "vllm/fast"},
		{"0.8", "models", "vllmfast", "vllm", "", "vllm/vllmfast"},
		{"0.7", "shields", "guard", "llama-guard", "llama-guard-3", "guard"},
		{"0.6", "tool_groups", "mcp::tickets", "mcp", "", "mcp::tickets"},
	} {
		kind, _ := lineOf(t, tt.line).Resource(tt.kind)
		if got := kind.Public(tt.id, tt.provider, tt.own); got != tt.want {
			t.Errorf("%s: %s of %s, own ID %q, is %q, want %q", tt.line, tt.id, tt.provider, tt.own, got, tt.want)
		}
	}
	for line, want := range map[string]bool{"0.2": false, "0.3": true, "0.7": true, "0.8": false, "1.5": false} {
		if kind, _ := lineOf(t, line).Resource("models"); kind.DropsID() != want {
			t.Errorf("%s drops ids: %t", line, kind.DropsID())
		}
	}
}

// TestBroken checks the types that exist but prevent the server from starting.
func TestBroken(t *testing.T) {
	tgi := "inference/remote::tgi"
	want := map[string][]string{
		"0.2": {"inference/remote::passthrough", "inference/remote::runpod"},
		"0.3": {"inference/remote::passthrough", tgi, "safety/remote::bedrock"}, "0.4": {tgi}, "0.5": {tgi}, "0.6": {tgi},
	}
	eachLine(t, func(t *testing.T, r *release.Release) {
		var got []string
		eachProvider(r, func(p *provider.Type) {
			if p.Broken != "" {
				got = append(got, p.API+"/"+p.Type)
			}
		})
		if diff := cmp.Diff(want[r.Line], got); diff != "" {
			t.Errorf("broken types (-want +got):\n%s", diff)
		}
	})
}

// TestKeptForm checks the types whose data prevents a later release from starting.
func TestKeptForm(t *testing.T) {
	want := map[string]map[string]string{
		"0.3": {"vector_io/inline::faiss": "chunk", "vector_io/inline::meta-reference": "chunk"},
	}
	eachLine(t, func(t *testing.T, r *release.Release) {
		var got map[string]string
		eachProvider(r, func(p *provider.Type) {
			if p.KeptForm != "" {
				if got == nil {
					got = map[string]string{}
				}
				got[p.API+"/"+p.Type] = p.KeptForm
			}
		})
		if diff := cmp.Diff(want[r.Line], got); diff != "" {
			t.Errorf("formats of stored data (-want +got):\n%s", diff)
		}
	})
}

func TestTools(t *testing.T) {
	r := line07(t)
	search := []string{"remote::bing-search", "remote::brave-search", "remote::tavily-search"}
	for name, want := range map[string]release.BuiltInTool{
		"websearch":          {Name: "websearch", Group: "builtin::websearch", Automatic: true, Providers: search},
		"builtin::websearch": {Name: "websearch", Group: "builtin::websearch", Automatic: true, Providers: search},
		"rag": {
			Name: "rag", Group: "builtin::file_search", Automatic: true,
			Providers: []string{"inline::file-search"},
		},
		"builtin::rag": {
			Name: "builtin::rag", Group: "builtin::file_search", Automatic: true,
			Providers: []string{"inline::file-search"},
		},
		"wolfram_alpha": {
			Name: "wolfram_alpha", Group: "builtin::wolfram_alpha", Automatic: true,
			Providers: []string{"remote::wolfram-alpha"},
		},
		"builtin::file_search": {
			Name: "builtin::rag", Group: "builtin::file_search", Automatic: true,
			Providers: []string{"inline::file-search"},
		},
	} {
		got, ok := r.Tools.BuiltInTool(name)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("BuiltInTool(%q) (-want +got):\n%s", name, diff)
		}
	}
	for _, line := range between(t, "", "0.6") {
		old := lineOf(t, line)
		for name, want := range map[string]release.BuiltInTool{
			"websearch":    {Name: "websearch", Group: "builtin::websearch", Providers: search},
			"builtin::rag": {Name: "rag", Group: "builtin::rag", Providers: []string{"inline::rag-runtime"}},
		} {
			got, ok := old.Tools.BuiltInTool(name)
			if diff := cmp.Diff(want, got); !ok || diff != "" {
				t.Errorf("%s: BuiltInTool(%q) (-want +got):\n%s", line, name, diff)
			}
		}
	}
	if _, ok := r.Tools.BuiltInTool("mcp::github"); ok {
		t.Error("an MCP server is a built-in tool")
	}
	eachLine(t, func(t *testing.T, r *release.Release) {
		want := release.Tools{MCP: "connectors", MCPURLKey: "url"}
		if release.Compare(r.Line, "0.6") <= 0 {
			want = release.Tools{MCP: "tool_groups", MCPURLKey: "mcp_endpoint.uri"}
		}
		resource, ok := r.Resource(r.Tools.MCP)
		if !ok || resource.Dropped || r.Tools.MCP != want.MCP || r.Tools.MCPURLKey != want.MCPURLKey {
			t.Fatalf("MCP servers are declared as %q with %q", r.Tools.MCP, r.Tools.MCPURLKey)
		}
		if !resource.Class.HasPath(r.Tools.MCPURLKey) {
			t.Errorf("%s have no key %q", r.Tools.MCP, r.Tools.MCPURLKey)
		}
		if _, ok := r.Provider("tool_runtime", r.Tools.MCPProvider); !ok {
			t.Errorf("no provider type %q", r.Tools.MCPProvider)
		}
		for _, tool := range r.Tools.BuiltIn {
			for _, kind := range tool.Providers {
				if _, ok := r.Provider("tool_runtime", kind); !ok {
					t.Errorf("%s is served by %q, which does not exist", tool.Name, kind)
				}
			}
		}
	})
}

// TestReferencesLeadToKeys checks which settings of each line name a provider or resource, and that their paths are
// keys.
func TestReferencesLeadToKeys(t *testing.T) {
	since := map[string]string{
		"vector_stores.default_provider_id": "0.3", "vector_stores.default_embedding_model": "0.3",
		"vector_stores.rewrite_query_params.model": "0.4", "vector_stores.contextual_retrieval_params.model": "0.6",
		"vector_stores.default_reranker_model": "0.7", "safety.default_shield_id": "0.4",
	}
	eachLine(t, func(t *testing.T, r *release.Release) {
		got := map[string]bool{}
		for _, ref := range r.References {
			got[ref.Path] = true
			if _, ok := r.API(ref.API); !ok {
				t.Errorf("%s: unknown API %q", ref.Path, ref.API)
			}
			for _, below := range []string{ref.ProviderKey, ref.ResourceKey} {
				path := ref.Path
				if below != "" && below != "." {
					path += "." + below
				}
				if !r.TopLevel.HasPath(path) {
					t.Errorf("there is no key %s", path)
				}
			}
			if want := ref.Resource == "models"; (ref.ModelType != "") != want || ref.CheckedAtStart && !want {
				t.Errorf("%s needs a model of type %q", ref.Path, ref.ModelType)
			}
			if _, ok := r.Resource(ref.Resource); ref.Resource != "" && !ok {
				t.Errorf("%s: unknown kind of resource %q", ref.Path, ref.Resource)
			}
		}
		for path, first := range since {
			gone := path == "safety.default_shield_id" && release.Compare(r.Line, "1.0") >= 0
			if want := release.Compare(first, r.Line) <= 0 && !gone; got[path] != want {
				t.Errorf("%s is listed: %v, want %v", path, got[path], want)
			}
			delete(got, path)
		}
		if len(got) > 0 {
			t.Errorf("further references: %v", got)
		}
	})
}

// TestRemovedIsGone checks, for each line, that the parts listed as removed do not exist, and that their replacements
// exist.
func TestRemovedIsGone(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		for _, gone := range r.Removed {
			if has(r, gone.Kind, gone.Name) {
				t.Errorf("the %s %s still exists", gone.Kind, gone.Name)
			}
			if gone.Kind == "api" && !release.KnownAPI(gone.Name) {
				t.Errorf("the API %s is not in history.yaml", gone.Name)
			}
			for _, prefix := range []string{"use ", "serve the model with vLLM and use "} {
				use, ok := strings.CutPrefix(gone.Instead, prefix)
				if ok && !has(r, "provider", strings.Fields(use)[0]) {
					t.Errorf("the replacement of %s is %s, which does not exist", gone.Name, use)
				}
			}
		}
	})
	for line, want := range map[string]string{
		"0.2": "", "0.3": "set telemetry.enabled in spec.settings and OTEL_* variables in spec.workload.overrides.env",
		"0.7": "set OTEL_* variables in spec.workload.overrides.env", "1.5": "set OTEL_* variables in spec.workload.overrides.env",
	} {
		if got, ok := lineOf(t, line).Removal("api", "telemetry"); got.Instead != want || ok != (want != "") {
			t.Errorf("%s: Removal(telemetry) = %+v, %v", line, got, ok)
		}
	}
	if _, ok := line07(t).Removal("api", "inference"); ok {
		t.Error("inference is removed")
	}
}

// TestRemovedIsComplete checks that each line lists as removed everything that an earlier line had and this line does
// not have.
func TestRemovedIsComplete(t *testing.T) {
	lines := release.Lines()
	for i, line := range lines[1:] {
		later := lineOf(t, line)
		for _, earlier := range lines[:i+1] {
			for _, thing := range things(lineOf(t, earlier)) {
				kind, name, _ := strings.Cut(thing, " ")
				if _, listed := later.Removal(kind, name); !listed && !has(later, kind, name) {
					t.Errorf("%s has the %s %s and %s does not name a replacement", earlier, kind, name, line)
				}
			}
		}
	}
}

// has reports whether a line has an item with the given kind and name, as in Removal.
func has(r *release.Release, kind, name string) bool {
	switch kind {
	case "api":
		api, ok := r.API(name)
		return ok && (api.Providable || name != "telemetry")
	case "provider":
		api, providerType, _ := strings.Cut(name, "/")
		_, ok := r.Provider(api, providerType)
		return ok
	case "resource":
		_, ok := r.Resource(name)
		return ok
	case "tool":
		resource, ok := r.Resource(name)
		return ok && !resource.Dropped
	default:
		return r.TopLevel.HasPath(name)
	}
}

// things lists the items of a line, such as "api inference", "provider inference/remote::vllm", "resource models" and
// "section server".
func things(r *release.Release) []string {
	var out []string
	for _, name := range r.APIs() {
		out = append(out, "api "+name)
	}
	eachProvider(r, func(p *provider.Type) { out = append(out, "provider "+p.API+"/"+p.Type) })
	for _, resource := range r.Resources() {
		out = append(out, "resource "+resource.Kind)
	}
	for _, name := range r.TopLevel.Names() {
		out = append(out, "section "+name)
	}
	for _, name := range r.Server.Names() {
		out = append(out, "section server."+name)
	}
	return out
}
