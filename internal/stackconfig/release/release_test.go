package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// line07 returns the data of the line 0.7, which the tests of facts are about.
func line07(t testing.TB) *release.Release {
	t.Helper()
	match, err := release.Lookup("0.7")
	if err != nil {
		t.Fatal(err)
	}
	return match.Release
}

func TestRuntime(t *testing.T) {
	want := release.Runtime{
		ConfigFile:         "config.yaml",
		Entrypoint:         "/usr/local/bin/llama-stack-entrypoint.sh",
		Command:            []string{"llama", "stack", "run"},
		ConfigVariable:     "RUN_CONFIG_PATH",
		FactoryVariable:    "LLAMA_STACK_CONFIG",
		PortVariable:       "LLAMA_STACK_PORT",
		LoggingVariable:    "LLAMA_STACK_LOGGING",
		TelemetryVariables: true,
		DataDir:            "~/.llama",
		DefaultPort:        8321,
		Host:               "0.0.0.0",
		ServerPortIgnored:  true,
		DistributionKey:    "distro_name",
	}
	r := line07(t)
	if diff := cmp.Diff(want, r.Runtime); diff != "" {
		t.Errorf("runtime (-want +got):\n%s", diff)
	}
	if r.Package != "llama-stack" || r.Module != "llama_stack" {
		t.Errorf("package %q with module %q", r.Package, r.Module)
	}
	for key, known := range map[string]bool{"workers": true, "host": true, "tls_certfile": true, "insecure": false} {
		if _, ok := r.Server.Key(key); ok != known {
			t.Errorf("server.%s is known: %v, want %v", key, ok, known)
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
			t.Errorf("API %q is listed and not found", name)
		}
		if got := len(r.ProviderTypes(name)) > 0; got != api.Providable {
			t.Errorf("API %q has provider types: %v, providable: %v", name, got, api.Providable)
		}
	}
}

// TestProviderFacts holds the table of SERVER.md 3.2 for the line: which key takes the endpoint, what is appended to a
// URL without path, which key takes the credential.
func TestProviderFacts(t *testing.T) {
	tests := []struct{ api, kind, endpoint, path, credential, region string }{
		{"inference", "remote::vllm", "base_url", "/v1", "api_token", ""},
		{"inference", "remote::ollama", "base_url", "/v1", "", ""},
		{"inference", "remote::openai", "base_url", "/v1", "api_key", ""},
		{"inference", "remote::azure", "base_url", "/openai/v1", "api_key", ""},
		{"inference", "remote::bedrock", "", "", "api_key", "region_name"},
		{"inference", "remote::watsonx", "base_url", "", "api_key", ""},
		{"inference", "remote::together", "base_url", "/v1", "api_key", ""},
		{"inference", "remote::fireworks", "base_url", "/inference/v1", "api_key", ""},
		{"inference", "remote::groq", "base_url", "/openai/v1", "api_key", ""},
		{"inference", "remote::nvidia", "base_url", "/v1", "api_key", ""},
		{"inference", "remote::cerebras", "base_url", "/v1", "api_key", ""},
		{"inference", "remote::sambanova", "base_url", "/v1", "api_key", ""},
		{"inference", "remote::anthropic", "", "", "api_key", ""},
		{"inference", "remote::gemini", "", "", "api_key", ""},
		{"inference", "remote::databricks", "base_url", "/serving-endpoints", "api_token", ""},
		{"inference", "remote::runpod", "base_url", "", "api_token", ""},
		{"inference", "remote::llama-openai-compat", "base_url", "/compat/v1", "api_key", ""},
		{"inference", "remote::vertexai", "", "", "access_token", ""},
		{"inference", "remote::passthrough", "base_url", "", "api_key", ""},
		{"inference", "remote::oci", "", "", "", "oci_region"},
		{"inference", "remote::llama-cpp-server", "base_url", "/v1", "api_key", ""},
		{"inference", "inline::sentence-transformers", "", "", "", ""},
		{"vector_io", "remote::pgvector", "host", "", "password", ""},
		{"vector_io", "remote::chromadb", "url", "", "", ""},
		{"vector_io", "remote::milvus", "uri", "", "token", ""},
		{"vector_io", "remote::qdrant", "url", "", "api_key", ""},
		{"vector_io", "remote::weaviate", "weaviate_cluster_url", "", "weaviate_api_key", ""},
		{"vector_io", "remote::elasticsearch", "elasticsearch_url", "", "elasticsearch_api_key", ""},
		{"vector_io", "remote::infinispan", "url", "", "password", ""},
		{"vector_io", "inline::faiss", "", "", "", ""},
		{"safety", "inline::llama-guard", "", "", "", ""},
		{"safety", "remote::bedrock", "", "", "", "region_name"},
		{"safety", "remote::nvidia", "guardrails_service_url", "", "", ""},
		{"safety", "remote::sambanova", "url", "", "api_key", ""},
		{"safety", "remote::passthrough", "base_url", "/v1", "api_key", ""},
		{"tool_runtime", "remote::brave-search", "", "", "api_key", ""},
		{"tool_runtime", "remote::tavily-search", "", "", "api_key", ""},
		{"tool_runtime", "remote::model-context-protocol", "", "", "", ""},
		{"files", "remote::s3", "endpoint_url", "", "", "region"},
		{"files", "remote::openai", "", "", "api_key", ""},
	}
	r := line07(t)
	for _, tt := range tests {
		t.Run(tt.api+"/"+tt.kind, func(t *testing.T) {
			p, ok := r.Provider(tt.api, tt.kind)
			if !ok {
				t.Fatal("no such type")
			}
			got := []string{p.EndpointKey, p.EndpointPath, p.CredentialKey, p.RegionKey}
			if diff := cmp.Diff([]string{tt.endpoint, tt.path, tt.credential, tt.region}, got); diff != "" {
				t.Errorf("endpoint, path, credential, region (-want +got):\n%s", diff)
			}
		})
	}
	vllm, _ := r.Provider("inference", "remote::vllm")
	if url, _ := vllm.Config.Key("base_url"); !url.Required {
		t.Error("vllm's base_url is not required")
	}
	pgvector, _ := r.Provider("vector_io", "remote::pgvector")
	if pgvector.EndpointParts != (provider.EndpointParts{Port: "port"}) {
		t.Errorf("pgvector's endpoint has the parts %+v", pgvector.EndpointParts)
	}
}

// TestEveryProviderIsWhole holds what has to be true of each provider type of each line.
func TestEveryProviderIsWhole(t *testing.T) {
	for _, line := range release.Lines() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		eachProvider(match.Release, func(p *provider.Type) {
			name := line + " " + p.API + "/" + p.Type
			for what, key := range map[string]string{
				"endpoint": p.EndpointKey, "port": p.EndpointParts.Port, "credential": p.CredentialKey, "region": p.RegionKey,
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
		{"vector_io", "qdrant", "remote::qdrant"}, // both exist: remote goes first
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

func TestStorageCredentials(t *testing.T) {
	r := line07(t)
	tests := map[string]release.Backend{
		"kv_sqlite":    {Family: release.KV},
		"kv_redis":     {Family: release.KV, CredentialInHost: true},
		"kv_postgres":  {Family: release.KV, CredentialKey: "password"},
		"kv_mongodb":   {Family: release.KV, CredentialKey: "password"},
		"sql_sqlite":   {Family: release.SQL},
		"sql_postgres": {Family: release.SQL, CredentialKey: "password", EncodePassword: true},
	}
	for name, want := range tests {
		got, ok := r.Storage.Backend(name)
		want.Type, want.Class = name, got.Class
		if !ok || got != want || got.Class == nil {
			t.Errorf("backend %s: %+v, want %+v", name, got, want)
		}
	}
	if len(r.Storage.Backends) != len(tests) {
		t.Errorf("%d backends, want %d", len(r.Storage.Backends), len(tests))
	}
	if _, ok := r.Storage.Backend("redis"); ok {
		t.Error("a backend without family is found")
	}
}

func TestStores(t *testing.T) {
	r := line07(t)
	type row struct{ Name, Family, Backend, Place string }
	var got []row
	for _, store := range r.Storage.Stores {
		backend, _ := store.Default.Get("backend")
		place, ok := store.Default.Get("namespace")
		if !ok {
			place, _ = store.Default.Get("table_name")
		}
		name, _ := backend.(string)
		where, _ := place.(string)
		got = append(got, row{store.Name, store.Family, name, where})
	}
	want := []row{
		{"metadata", release.KV, release.KVDefault, "registry"},
		{"inference", release.SQL, release.SQLDefault, "inference_store"},
		{"conversations", release.SQL, release.SQLDefault, "openai_conversations"},
		{"responses", release.SQL, "", ""},
		{"prompts", release.KV, release.KVDefault, "prompts"},
		{"connectors", release.KV, release.KVDefault, "connectors"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stores (-want +got):\n%s", diff)
	}
	if _, ok := r.Storage.Store("metadata"); !ok {
		t.Error("the metadata store is not found")
	}
	if _, ok := r.Storage.Store("telemetry"); ok {
		t.Error("a store that does not exist is found")
	}
}

func TestResources(t *testing.T) {
	r := line07(t)
	tests := map[string]release.Resource{
		"models": {
			Section: release.RegisteredResources, IDKey: "model_id", ProviderIDKey: "provider_model_id",
			NeedsProvider: true, API: "inference", PublicID: "{provider_id}/{provider_model_id}",
		},
		"shields": {
			Section: release.RegisteredResources, IDKey: "shield_id", ProviderIDKey: "provider_shield_id",
			NeedsProvider: true, API: "safety", PublicID: "{shield_id}",
		},
		"connectors": {Section: release.TopLevel, IDKey: "connector_id"},
		"tool_groups": {
			Section: release.RegisteredResources, IDKey: "toolgroup_id", NeedsProvider: true, API: "tool_runtime",
			Dropped: true, Instead: "built-in tools need no entry, and MCP servers are declared under connectors",
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
	for _, resource := range r.Resources() {
		if _, ok := resource.Class.Key(resource.IDKey); !ok {
			t.Errorf("%s: the id key %q is not a key", resource.Kind, resource.IDKey)
		}
		if _, ok := r.API(resource.API); resource.API != "" && !ok {
			t.Errorf("%s: unknown API %q", resource.Kind, resource.API)
		}
	}
}

func TestTools(t *testing.T) {
	r := line07(t)
	search := []string{"remote::bing-search", "remote::brave-search", "remote::tavily-search"}
	for name, want := range map[string]release.BuiltInTool{
		"websearch":            {Name: "websearch", Group: "builtin::websearch", Automatic: true, Providers: search},
		"builtin::websearch":   {Name: "websearch", Group: "builtin::websearch", Automatic: true, Providers: search},
		"rag":                  {Name: "rag", Group: "builtin::file_search", Automatic: true, Providers: []string{"inline::file-search"}},
		"builtin::rag":         {Name: "builtin::rag", Group: "builtin::file_search", Automatic: true, Providers: []string{"inline::file-search"}},
		"wolfram_alpha":        {Name: "wolfram_alpha", Group: "builtin::wolfram_alpha", Automatic: true, Providers: []string{"remote::wolfram-alpha"}},
		"builtin::file_search": {Name: "builtin::rag", Group: "builtin::file_search", Automatic: true, Providers: []string{"inline::file-search"}},
	} {
		got, ok := r.Tools.BuiltInTool(name)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("BuiltInTool(%q) (-want +got):\n%s", name, diff)
		}
	}
	if _, ok := r.Tools.BuiltInTool("mcp::github"); ok {
		t.Error("an MCP server is a built-in tool")
	}
	resource, ok := r.Resource(r.Tools.MCP)
	if !ok || r.Tools.MCP != "connectors" {
		t.Fatalf("MCP servers are declared as %q", r.Tools.MCP)
	}
	if _, ok := resource.Class.Key(r.Tools.MCPURLKey); !ok {
		t.Errorf("%s have no key %q", r.Tools.MCP, r.Tools.MCPURLKey)
	}
	if _, ok := r.Provider("tool_runtime", r.Tools.MCPProvider); !ok {
		t.Errorf("no provider type %q", r.Tools.MCPProvider)
	}
}

// TestReferencesLeadToKeys follows the path of each setting that names a provider or resource through the classes.
func TestReferencesLeadToKeys(t *testing.T) {
	r := line07(t)
	for _, ref := range r.References {
		t.Run(ref.Path, func(t *testing.T) {
			if _, ok := r.API(ref.API); !ok {
				t.Errorf("unknown API %q", ref.API)
			}
			for _, below := range []string{ref.ProviderKey, ref.ResourceKey} {
				path := ref.Path
				if below != "" && below != "." {
					path += "." + below
				}
				if !hasPath(r.TopLevel, strings.Split(path, ".")) {
					t.Errorf("there is no key %s", path)
				}
			}
			if _, ok := r.Resource(ref.Resource); ref.Resource != "" && !ok {
				t.Errorf("unknown kind of resource %q", ref.Resource)
			}
		})
	}
	if len(r.References) == 0 {
		t.Error("no references")
	}
}

func TestRemovedIsGone(t *testing.T) {
	r := line07(t)
	for _, gone := range r.Removed {
		switch gone.Kind {
		case "api":
			if _, ok := r.API(gone.Name); ok {
				t.Errorf("the API %s is still there", gone.Name)
			}
			if !release.KnownAPI(gone.Name) {
				t.Errorf("the API %s is not in history.yaml", gone.Name)
			}
		case "provider":
			api, kind, _ := strings.Cut(gone.Name, "/")
			if _, ok := r.Provider(api, kind); ok {
				t.Errorf("the provider type %s is still there", gone.Name)
			}
			if use, ok := strings.CutPrefix(gone.Instead, "use "); ok {
				api, kind, _ := strings.Cut(strings.Fields(use)[0], "/")
				if _, ok := r.Provider(api, kind); !ok {
					t.Errorf("%s is to be replaced by %s, which does not exist", gone.Name, use)
				}
			}
		case "resource", "section":
			if _, ok := r.TopLevel.Key(gone.Name); ok {
				t.Errorf("the section %s is still there", gone.Name)
			}
		}
	}
	got, ok := r.Removal("api", "telemetry")
	if !ok || got.Instead != "set OTEL_* variables in spec.workload.overrides.env" {
		t.Errorf("Removal(telemetry) = %+v, %v", got, ok)
	}
	if _, ok := r.Removal("api", "inference"); ok {
		t.Error("inference is removed")
	}
}
