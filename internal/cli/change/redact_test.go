package change_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/change"
)

func TestRedact(t *testing.T) {
	for _, tc := range []struct{ path, value, want string }{
		{"providers.inference[vllm].config.api_key", "abc", "***"},
		{"providers.inference[vllm].config.api_key", "", ""},
		{"providers.inference[vllm].config.api_key", "${env.KEY}", "${env.KEY}"},
		{"providers.inference[vllm].config.api_key", "${env.KEY:=abc}", "${env.KEY:=***}"},
		{"providers.inference[vllm].config.api_key", "abc${env.KEY}", "***${env.KEY}"},
		{"providers.inference[vllm].config.clientSecret", "abc", "***"},
		{"providers.inference[vllm].config.headers.Authorization", "Bearer abc", "***"},
		{"providers.inference[vllm].config.max_tokens", "4096", "4096"},
		{"server.auth.api_keys[abc]", "abc", "***"},
		{"url", "postgres://me:abc@db/x", "postgres://me:***@db/x"},
		{"url", "postgres://me:${env.PW}@db/x", "postgres://me:${env.PW}@db/x"},
		{"url", "http://vllm:8000/v1", "http://vllm:8000/v1"},
		{"header", "X: Bearer abc", "X: Bearer ***"},
		{"note", "hf_abcdefghijklmnop", "***"},
		{"note", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "***"},
		{"note", "AIzaSyA-abcdefghijk", "***"},
		{"note", "sha256~abcdefghijkl", "***"},
		{"command", "serve --api-key=abc --port=1", "serve --api-key=*** --port=1"},
		{"spec.template.spec.containers[a].env[DB_PASSWORD].value", "abc", "***"},
		{"spec.template.spec.containers[a].env[PORT].value", "1", "1"},
		{"spec.template.spec.containers[a].env[DB_PASSWORD].valueFrom.secretKeyRef.key", "password", "password"},
		{"metadata.name", "secret", "secret"},
	} {
		if got := change.Redact(tc.path, tc.value); got != tc.want {
			t.Errorf("Redact(%q, %q) = %q, want %q", tc.path, tc.value, got, tc.want)
		}
	}
}

func TestRedactPath(t *testing.T) {
	for path, want := range map[string]string{
		"server.auth.api_keys[abc]":          "server.auth.api_keys[***]",
		"a.urls[postgres://me:abc@db/x]":     "a.urls[postgres://me:***@db/x]",
		"providers.inference[vllm].config.a": "providers.inference[vllm].config.a",
	} {
		if got := change.RedactPath(path); got != want {
			t.Errorf("RedactPath(%q) = %q, want %q", path, got, want)
		}
	}
}
