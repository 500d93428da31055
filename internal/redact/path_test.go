package redact_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/redact"
)

func TestValue(t *testing.T) {
	for _, tc := range []struct{ path, value, want string }{
		{"providers.inference[vllm].config.api_key", "abc", "<redacted>"},
		{"providers.inference[vllm].config.api_key", "", ""},
		{"providers.inference[vllm].config.api_key", "${env.KEY}", "${env.KEY}"},
		{"providers.inference[vllm].config.api_key", "${env.KEY:=abc}", "${env.KEY:=<redacted>}"},
		{"providers.inference[vllm].config.api_key", "abc${env.KEY}", "<redacted>${env.KEY}"},
		{"providers.inference[vllm].config.clientSecret", "abc", "<redacted>"},
		{"providers.inference[vllm].config.headers.Authorization", "Bearer abc", "<redacted>"},
		{"providers.inference[vllm].config.max_tokens", "4096", "4096"},
		{"server.auth.api_keys[abc]", "abc", "<redacted>"},
		{"url", "postgres://me:abc@db/x", "postgres://<redacted>@db/x"},
		{"url", "postgres://me:${env.PW}@db/x", "postgres://me:${env.PW}@db/x"},
		{"url", "http://vllm:8000/v1", "http://vllm:8000/v1"},
		{"header", "X: Bearer abcdef", "X: Bearer <redacted>"},
		{"note", "hf_abcdefghijklmnop", "<redacted>"},
		{"note", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sig", "<redacted>"},
		{"note", "AIzaSyA-abcdefghijk", "<redacted>"},
		{"note", "sha256~abcdefghijkl", "<redacted>"},
		{"command", "serve --api-key=abc --port=1", "serve --api-key=<redacted> --port=1"},
		{"spec.template.spec.containers[a].env[DB_PASSWORD].value", "abc", "<redacted>"},
		{"spec.template.spec.containers[a].env[PORT].value", "1", "1"},
		{"spec.template.spec.containers[a].env[DB_PASSWORD].valueFrom.secretKeyRef.key", "password", "password"},
		{"metadata.name", "secret", "secret"},
		{"spec.template.spec.imagePullSecrets[regcred].name", "regcred", "regcred"},
		{"config.session_cookie", "abc", "<redacted>"},
		{"config.token", "12345", "<redacted>"},
		{"config.max_tokens", "${env.VLLM_MAX_TOKENS:=4096}", "${env.VLLM_MAX_TOKENS:=4096}"},
		{"config.token", "${env.TOKEN:=4096}", "${env.TOKEN:=<redacted>}"},
		{"provider_id", "${env.AZURE_API_KEY:+azure}", "${env.AZURE_API_KEY:+azure}"},
		{"note", "dapi0123456789abcdef", "<redacted>"},
	} {
		if got := redact.Value(tc.path, tc.value); got != tc.want {
			t.Errorf("Value(%q, %q) = %q, want %q", tc.path, tc.value, got, tc.want)
		}
	}
}

func TestPath(t *testing.T) {
	for path, want := range map[string]string{
		"server.auth.api_keys[abc]":          "server.auth.api_keys[<redacted>]",
		"a.urls[postgres://me:abc@db/x]":     "a.urls[postgres://<redacted>@db/x]",
		"providers.inference[vllm].config.a": "providers.inference[vllm].config.a",
	} {
		if got := redact.Path(path); got != want {
			t.Errorf("Path(%q) = %q, want %q", path, got, want)
		}
	}
}
