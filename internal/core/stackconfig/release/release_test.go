package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
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
		kind, _ := lineOf(t, tt.line).Provider("inference", tt.kind)
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
		r := lineOf(t, line)
		eachProvider(r, func(p *provider.Type) {
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
				if _, ok := r.API(api); !ok {
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
		"vlm": "remote::vllm", "remote::vlm": "remote::vllm", "remot::vllm": "remote::vllm", "remote::our-own": "",
		"opnai":                "remote::openai",
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

// TestLookups checks what the golden files of TestFacts cannot show: how tools are found by name, and which stores the
// API needs.
func TestLookups(t *testing.T) {
	r := line07(t)
	for name, want := range map[string]string{
		"websearch": "websearch", "builtin::websearch": "websearch", "rag": "rag", "builtin::rag": "builtin::rag",
		"builtin::file_search": "builtin::rag", "mcp::github": "",
	} {
		if got, ok := r.Tools.BuiltInTool(name); got.Name != want || ok != (want != "") {
			t.Errorf("BuiltInTool(%q) = %+v, %t, want %q", name, got, ok, want)
		}
	}
	inference, _ := lineOf(t, "0.3").Storage.Store("inference")
	if stores, _ := lineOf(t, "1.1").Storage.Store("vector_stores"); !inference.NeededByAPI() || stores.NeededByAPI() {
		t.Errorf("the API needs the stores %+v and %+v", inference, stores)
	}
	metadata, _ := lineOf(t, "0.2").Storage.Store("metadata")
	responses, _ := r.Storage.Store("responses")
	const file = "{type: sqlite, db_path: ${env.SQLITE_STORE_DIR:=~/.llama/distributions/starter}/registry.db}"
	if got := inline(metadata.For("starter")); got != file || responses.For("starter") != nil {
		t.Errorf("the defaults of the stores are %s and %v", got, responses.For("starter"))
	}
}

// TestEveryLineIsWhole checks that the names in the data of each line lead to keys, APIs and types of the line.
func TestEveryLineIsWhole(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		for _, name := range r.APIs() {
			if api, ok := r.API(name); !ok || len(r.ProviderTypes(name)) > 0 && !api.Providable {
				t.Errorf("API %q: found %t, %+v, types %v", name, ok, api, r.ProviderTypes(name))
			}
		}
		for _, backend := range r.Storage.Backends {
			if kind, ok := backend.Class.Key("type"); !ok || kind.Default != backend.TypeValue {
				t.Errorf("backend %s: the type is %v, want %s", backend.Type, kind.Default, backend.TypeValue)
			}
		}
		for _, resource := range r.Resources() {
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
		eachClass(r, func(class *schema.Class) {
			for _, rule := range class.Rules {
				keys := slices.Clone(rule.Keys)
				for _, condition := range rule.If {
					keys = append(keys, condition.Key)
				}
				for _, key := range keys {
					if known, _ := class.Key(key); known.Name != key {
						t.Errorf("a rule of %s names %q, which is not a key", class.Name, key)
					}
				}
			}
		})
		servers, ok := r.Resource(r.Tools.MCP)
		if !ok || servers.Dropped || !servers.Class.HasPath(r.Tools.MCPURLKey) {
			t.Errorf("MCP servers are declared as %q with %q", r.Tools.MCP, r.Tools.MCPURLKey)
		}
		for _, tool := range append(r.Tools.BuiltIn, release.BuiltInTool{Providers: []string{r.Tools.MCPProvider}}) {
			for _, kind := range tool.Providers {
				if _, ok := r.Provider("tool_runtime", kind); !ok {
					t.Errorf("%q is served by %q, which does not exist", tool.Name, kind)
				}
			}
		}
	})
}

// TestKeysOfProviders checks the properties of providers' keys that the golden files of TestFacts do not contain.
func TestKeysOfProviders(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		vllm, _ := r.Provider("inference", "remote::vllm")
		if url, _ := vllm.Config.Key(vllm.EndpointKey); strings.Contains(url.Type.String(), "null") {
			t.Errorf("vllm's %s is not required: %s", vllm.EndpointKey, url.Type)
		}
		if oci, ok := r.Provider("inference", "remote::oci"); ok {
			if key, ok := oci.Config.Key("api_key"); !ok || !key.Internal {
				t.Error("the API key that oci never reads is offered")
			}
		}
		if bedrock, _ := r.Provider("inference", "remote::bedrock"); release.Compare(r.Line, "0.4") >= 0 {
			if key, ok := bedrock.Config.Key("api_key"); !ok || key.Name != bedrock.CredentialKey {
				t.Errorf("api_key of bedrock is read as %q", key.Name)
			}
		}
	})
}

// TestReferencesLeadToKeys checks that the paths of the settings that name a provider or resource are keys.
func TestReferencesLeadToKeys(t *testing.T) {
	eachLine(t, func(t *testing.T, r *release.Release) {
		for _, ref := range r.References {
			if _, ok := r.API(ref.API); !ok {
				t.Errorf("%s: unknown API %q", ref.Path, ref.API)
			}
			for _, below := range []string{ref.ProviderKey, ref.ResourceKey} {
				if path := strings.TrimRight(ref.Path+"."+below, "."); !r.TopLevel.HasPath(path) {
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
}
