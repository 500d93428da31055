package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

func TestLinesWith(t *testing.T) {
	all := strings.Join(release.Lines(), " ")
	for _, tt := range []struct{ api, kind, want string }{
		{"inference", "remote::vllm", all},
		{"inference", "vllm", all},
		{"safety", "llama-guard", "0.2 0.3 0.4 0.5 0.6 0.7 0.8"},
		{"inference", "inline::meta-reference", "0.2 0.3 0.4"},
		{"vector_io", "remote::neo4j", "1.3 1.4 1.5"},
		{"telemetry", "meta-reference", "0.2"},
		{"inference", "remote::vlm", ""},
		{"nothing", "vllm", ""},
	} {
		if got := strings.Join(release.LinesWith(tt.api, tt.kind), " "); got != tt.want {
			t.Errorf("LinesWith(%q, %q) = %s, want %s", tt.api, tt.kind, got, tt.want)
		}
	}
}

func TestLineWithAPI(t *testing.T) {
	for _, tt := range []struct{ line, api, want string }{
		{"0.7", "messages", "0.8"},
		{"0.2", "messages", "0.8"},
		{"1.5", "safety", "0.8"},
		{"0.8", "agents", "0.6"},
		{"0.7", "telemetry", "0.2"},
		{"0.7", "inference", "0.8"},
		{"1.5", "inference", "1.4"},
		{"0.7", "models", ""},
		{"0.7", "nothing", ""},
	} {
		got, ok := release.LineWithAPI(tt.line, tt.api)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("LineWithAPI(%q, %q) = %q, %t, want %q", tt.line, tt.api, got, ok, tt.want)
		}
	}
}

func TestLinesWithCredential(t *testing.T) {
	all := release.Lines()
	for _, tt := range []struct {
		api, kind string
		want      []string
	}{
		{"inference", "vllm", all},
		{"inference", "bedrock", all[2:]},
		{"inference", "sentence-transformers", nil},
		{"inference", "nothing", nil},
	} {
		if got := release.LinesWithCredential(tt.api, tt.kind); !slices.Equal(got, tt.want) {
			t.Errorf("LinesWithCredential(%q, %q) = %v, want %v", tt.api, tt.kind, got, tt.want)
		}
	}
}

func TestFirstLineWithOpenHealthCheck(t *testing.T) {
	if got := release.FirstLineWithOpenHealthCheck(); got != "0.3" {
		t.Errorf("FirstLineWithOpenHealthCheck() = %q", got)
	}
}

func TestNearestTypeOfAny(t *testing.T) {
	for _, tt := range []struct{ api, given, want string }{
		{"vector_io", "neo4", "remote::neo4j"},
		{"vector_io", "remote::neo4", "remote::neo4j"},
		{"vector_io", "remote::milvsu", "remote::milvus"},
		{"inference", "vlm", "remote::vllm"},
		{"inference", "nothing-like-it", ""},
		{"nothing", "vllm", ""},
	} {
		if got := release.NearestTypeOfAny(tt.api, tt.given); got != tt.want {
			t.Errorf("NearestTypeOfAny(%q, %q) = %q, want %q", tt.api, tt.given, got, tt.want)
		}
	}
}

func TestAliasesOf(t *testing.T) {
	for _, tt := range []struct {
		api, kind string
		endpoints string
		want      release.Aliases
	}{
		{"inference", "vllm", "base_url url", release.Aliases{Credentials: []string{"api_token"}}},
		{"inference", "remote::azure", "base_url api_base", release.Aliases{Credentials: []string{"api_key"}}},
		{"inference", "bedrock", "", release.Aliases{Credentials: []string{"aws_bedrock_bearer_token", "api_key"}}},
		{"vector_io", "milvus", "uri", release.Aliases{Credentials: []string{"token"}, Strict: true}},
		{"safety", "passthrough", "base_url", release.Aliases{Credentials: []string{"api_key"}, Strict: true}},
		{"inference", "nothing", "", release.Aliases{}},
	} {
		got := release.AliasesOf(tt.api, tt.kind)
		var endpoints []string
		for _, e := range got.Endpoints {
			endpoints = append(endpoints, e.Key)
			if e.Type.EndpointKey != e.Key {
				t.Errorf("%s/%s: the key %s belongs to a type that reads %s", tt.api, tt.kind, e.Key, e.Type.EndpointKey)
			}
		}
		got.Endpoints = nil
		if keys := strings.Join(endpoints, " "); keys != tt.endpoints {
			t.Errorf("%s/%s: endpoints %q, want %q", tt.api, tt.kind, keys, tt.endpoints)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("AliasesOf(%q, %q) (-want +got):\n%s", tt.api, tt.kind, diff)
		}
	}
}

// TestRules checks the conditions on several keys, and that each condition names keys of its class.
func TestRules(t *testing.T) {
	for _, tt := range []struct{ first, last, class, want string }{
		{"", "", "auth", "any_of jwks introspection; exclusive jwks introspection"},
		{"0.5", "", "top", "any_of distro_name image_name"},
		{"", "0.4", "top", ""},
		{"0.5", "", "tls", "together client_cert client_key"},
		{"0.5", "", "proxy", "exclusive url http https"},
		{"0.8", "", "gemini", "exclusive api_key access_token; together access_token project"},
		{"", "0.7", "gemini", ""},
		{"1.4", "", "postgres", "exclusive connection_string host port db user password; any_of connection_string user"},
		{"", "1.3", "postgres", ""},
		{"0.7", "", "passthrough", "disjoint forward_headers extra_blocked_headers"},
		{"", "0.3", "nvidia", "any_of api_key url=https://integrate.api.nvidia.com"},
		{"0.4", "", "nvidia", ""},
		{"0.5", "", "ivfflat", "below probes lists"},
		{"1.0", "", "pgvector", "not_above pool_min_size pool_max_size"},
		{"", "", "qdrant", "exclusive location url host; exclusive url host"},
		{"", "", "access", "any_of permit forbid; exclusive permit forbid; exclusive when unless"},
		{"1.2", "", "tenancy", "any_of default_tenant_id mode=single"},
		{"", "0.8", "cors", "never allow_origins allow_origins=* allow_credentials=true"},
		{"0.5", "", "route", "any_of permit forbid; exclusive permit forbid; exclusive when unless"},
	} {
		for _, line := range between(t, tt.first, tt.last) {
			var got []string
			class := ruled(t, lineOf(t, line), tt.class)
			for _, rule := range class.Rules {
				row, keys := string(rule.Kind)+" "+strings.Join(rule.Keys, " "), slices.Clone(rule.Keys)
				for _, condition := range rule.If {
					row += " " + condition.Key + "=" + condition.Value
					keys = append(keys, condition.Key)
				}
				got = append(got, row)
				for _, key := range keys {
					if known, _ := class.Key(key); known.Name != key {
						t.Errorf("%s: a rule of %s names %q, which is not a key", line, class.Name, key)
					}
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s: rules of %s (-want +got):\n%s", line, tt.class, diff)
			}
		}
	}
}

// ruled returns the class for a row of TestRules.
func ruled(t *testing.T, r *release.Release, name string) *schema.Class {
	t.Helper()
	vllm, _ := r.Provider("inference", "remote::vllm")
	gemini, _ := r.Provider("inference", "remote::gemini")
	postgres, _ := r.Storage.Backend("sql_postgres")
	network, _ := vllm.Config.Key("network")
	auth, _ := r.Server.Key("auth")
	find := map[string]func() *schema.Class{
		"top":         func() *schema.Class { return r.TopLevel },
		"auth":        func() *schema.Class { return within(auth.Type, "OAuth2TokenAuthConfig") },
		"tls":         func() *schema.Class { return within(network.Type, "TLSConfig") },
		"proxy":       func() *schema.Class { return within(network.Type, "ProxyConfig") },
		"gemini":      func() *schema.Class { return gemini.Config },
		"postgres":    func() *schema.Class { return postgres.Class },
		"tenancy":     func() *schema.Class { return within(keyOf(r.Server, "tenancy"), "TenancyConfig") },
		"cors":        func() *schema.Class { return within(keyOf(r.Server, "cors"), "CORSConfig") },
		"access":      func() *schema.Class { return within(auth.Type, "AccessRule") },
		"route":       func() *schema.Class { return within(auth.Type, "RouteAccessRule") },
		"passthrough": func() *schema.Class { return configOf(r, "inference", "remote::passthrough") },
		"qdrant":      func() *schema.Class { return configOf(r, "vector_io", "remote::qdrant") },
		"nvidia":      func() *schema.Class { return configOf(r, "inference", "remote::nvidia") },
		"pgvector":    func() *schema.Class { return configOf(r, "vector_io", "remote::pgvector") },
		"ivfflat": func() *schema.Class {
			index, _ := configOf(r, "vector_io", "remote::pgvector").Key("vector_index")
			return within(index.Type, "PGVectorIVFFlatVectorIndex")
		},
	}
	class := find[name]()
	if class == nil {
		t.Fatalf("%s has no class for %s", r.Line, name)
	}
	return class
}

func keyOf(class *schema.Class, name string) *schema.Expr {
	key, _ := class.Key(name)
	return key.Type
}

func configOf(r *release.Release, api, kind string) *schema.Class {
	p, _ := r.Provider(api, kind)
	return p.Config
}

// within finds a class by name among the classes of a type, at any depth.
func within(e *schema.Expr, name string) *schema.Class {
	if e.Class != nil {
		if e.Class.Name == name {
			return e.Class
		}
		for i := range e.Class.Keys {
			if found := within(e.Class.Keys[i].Type, name); found != nil {
				return found
			}
		}
	}
	for _, arg := range e.Args {
		if found := within(arg, name); found != nil {
			return found
		}
	}
	return nil
}
