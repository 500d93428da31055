package redact_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/redact"
)

func TestSetting(t *testing.T) {
	const at = "providers.inference[vllm].config."
	for _, tc := range []struct{ path, value, want string }{
		{at + "api_key", "abc", "<redacted>"},
		{at + "api_key", "", ""},
		{at + "api_key", "12345", "<redacted>"},
		{at + "api_key", "${env.KEY}", "${env.KEY}"},
		{at + "api_key", "${env.KEY:=abc}", "${env.KEY:=<redacted>}"},
		{at + "api_key", "${env.KEY:=4096}", "${env.KEY:=<redacted>}"},
		{at + "api_key", "abc${env.KEY}", "<redacted>${env.KEY}"},
		{at + "a_new_key", "true", "true"},
		{at + "a_new_key", "text", "<redacted>"},
		{at + "a_new_key.name", "text", "<redacted>"},
		{at + "headers.X-Own", "text", "<redacted>"},
		{at + "max_tokens", "${env.VLLM_MAX_TOKENS:=4096}", "${env.VLLM_MAX_TOKENS:=4096}"},
		{at + "base_url", "postgres://me:abc@db/x", "postgres://<redacted>@db/x"},
		{at + "base_url", "postgres://me:a/b@db/x", "postgres://<redacted>@db/x"},
		{at + "base_url", "postgres://me:${env.PW}@db/x", "postgres://<redacted>${env.PW}@db/x"},
		{at + "base_url", "postgres://:${env.PW:=abc}@db/x", "postgres://:${env.PW:=<redacted>}@db/x"},
		{at + "base_url", "${env.URL:=http://u:abc@vllm:8000/v1}", "${env.URL:=http://<redacted>@vllm:8000/v1}"},
		{at + "base_url", "http://${env.HOST}:${env.PORT:=8000}/v1", "http://${env.HOST}:${env.PORT:=8000}/v1"},
		{at + "base_url", "https://b.example/c?sig=abc", "https://b.example/c?<redacted>"},
		{at + "base_url", "https://b.example/abcdefghijklmnopqrstuvwxyz/v1", "https://b.example/<redacted>/v1"},
		{at + "base_url", "Server=x;Pwd=abc;", "<redacted>"},
		{at + "db_path", "~/.llama/distributions/starter/faiss_store.db", "~/.llama/distributions/starter/faiss_store.db"},
		{"providers.inference[vllm].provider_id", "${env.AZURE_API_KEY:+azure}", "${env.AZURE_API_KEY:+azure}"},
		{"registered_resources.models[meta/llama-3.2].model_id", "meta/llama-3.2", "meta/llama-3.2"},
		{"registered_resources.models[m].model_id", "hf_abcdefghijklmnop", "<redacted>"},
		{"server.port", "8321", "8321"},
		{"server.auth.api_keys[abc]", "abc", "<redacted>"},
	} {
		if got := redact.Setting(tc.path, tc.value); got != tc.want {
			t.Errorf("Setting(%q, %q) = %q, want %q", tc.path, tc.value, got, tc.want)
		}
	}
}

func TestSettingPath(t *testing.T) {
	for path, want := range map[string]string{
		"server.auth.api_keys[abc]":                 "server.auth.api_keys[<redacted>]",
		"providers.inference[abc]":                  "providers.inference[<redacted>]",
		"a.urls[postgres://me:abc@db/x]":            "a.urls[<redacted>]",
		"apis[inference]":                           "apis[inference]",
		"providers.inference[vllm].config.a":        "providers.inference[vllm].config.a",
		"providers.inference[vllm].config.new[abc]": "providers.inference[vllm].config.new[<redacted>]",
		"providers.inference[vllm].config.new[0].a": "providers.inference[vllm].config.new[0].a",
	} {
		if got := redact.SettingPath(path); got != want {
			t.Errorf("SettingPath(%q) = %q, want %q", path, got, want)
		}
	}
}

// The forms of secrets that Text recognizes in text that is not at a place, such as a log.
func TestForms(t *testing.T) {
	for text, want := range map[string]string{
		"serve --api-key=abc --port=1":           "serve --api-key=<redacted> --port=1",
		"X: Bearer abcdef":                       "X: Bearer <redacted>",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.s": "<redacted>",
		"AIzaSyA-abcdefghijk":                    "<redacted>",
		"sha256~abcdefghijkl":                    "<redacted>",
		"dapi0123456789abcdef":                   "<redacted>",
		"Server=x;Pwd=abc;":                      "Server=x;Pwd=<redacted>;",
		"username=u,pass=abc":                    "username=u,pass=<redacted>",
		"GET /c?sig=abc&se=1":                    "GET /c?sig=<redacted>&se=1",
		"compass: north, encompass=all":          "compass: north, encompass=all",
		"postgres://u:a/b@h/x":                   "postgres://<redacted>@h/x",
	} {
		if got := redact.Text(text); got != want {
			t.Errorf("Text(%q) = %q, want %q", text, got, want)
		}
	}
}
