package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
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
