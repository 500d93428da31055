package redact_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/redact"
)

// Settings are redacted as the file has them: variables by name, credentials not at
// all, whatever their key.
func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct{ config, want string }{
		"as it is":               {`{url: "http://vllm:8000/v1", max_tokens: 4096, tls_verify: true, temperature: 0.5, project: null}`, `{"max_tokens":4096,"project":null,"temperature":0.5,"tls_verify":true,"url":"http://vllm:8000/v1"}`},
		"nested":                 {`{kvstore: {backend: kv_default, namespace: faiss}, hosts: [a, {port: 1}]}`, `{"hosts":["a",{"port":1}],"kvstore":{"backend":"kv_default","namespace":"faiss"}}`},
		"odd numbers":            {`{a: .nan, b: .inf, d: 0x10}`, `{"a":".nan","b":".inf","d":16}`},
		"variables":              {`{url: "${env.VLLM_URL:=http://localhost:8000}", api_token: "${env.LLSD_VLLM_API_KEY}"}`, `{"api_token":"${env.LLSD_VLLM_API_KEY}","url":"${env.VLLM_URL:=http://localhost:8000}"}`},
		"default of a secret":    {`{password: "${env.PW:=cAnArY}", api_key: "${env.KEY:=}", token: "${env.T:+cAnArY}"}`, `{"api_key":"${env.KEY:=}","password":"${env.PW:=********}","token":"${env.T:+********}"}`},
		"secret beside variable": {`{password: "cAnArY${env.PW}"}`, `{"password":"********"}`},
		"keys": {
			`{api_key: cAnArY, apiKey: cAnArY, Client-Secret: cAnArY, aws_session_token: cAnArY, db_passwd: cAnArY, auth: cAnArY, dsn: cAnArY, connection_string: cAnArY, ssl_key: cAnArY}`,
			`{"Client-Secret":"********","apiKey":"********","api_key":"********","auth":"********","aws_session_token":"********","connection_string":"********","db_passwd":"********","dsn":"********","ssl_key":"********"}`,
		},
		"amounts":                 {`{max_tokens: "${env.MAX:=4096}", access_tokens: 1234567890123, tokens: 5}`, `{"access_tokens":"********","max_tokens":"${env.MAX:=4096}","tokens":"********"}`},
		"numbers as credentials":  {`{password: 12345678, pwd: 1.5, tokens: [cAnArY]}`, `{"password":"********","pwd":"********","tokens":"********"}`},
		"no credential":           {`{api_key: "", token: null, secret: false}`, `{"api_key":"","secret":false,"token":null}`},
		"all below a key":         {`{headers: {X-Any: cAnArY}, credentials: {user: cAnArY}, api_keys: [cAnArY]}`, `{"api_keys":"********","credentials":"********","headers":"********"}`},
		"in an address":           {`{url: "redis://:cAnArY@h:6379", uri: "postgresql://u:cAnArY@h/db", host: ":cAnArY@redis"}`, `{"host":"********","uri":"********","url":"********"}`},
		"variable in an address":  {`{uri: "postgresql://${env.U}:${env.P}@h/db", other: "${env.URI:=redis://:cAnArY@h}"}`, `{"other":"********","uri":"postgresql://${env.U}:${env.P}@h/db"}`},
		"in parameters":           {`{url: "https://h/?api-version=1&sig=cAnArY", text: "host=h password=cAnArY", json: '{"token": "cAnArY"}'}`, `{"json":"********","text":"********","url":"********"}`},
		"by its beginning":        {`{a: sk-cAnArY123456, b: "Bearer cAnArY", c: hf_cAnArY123456, d: eyJhbGciOiJIUzI1NiJ9, e: ["ghp_cAnArY123456"]}`, `{"a":"********","b":"********","c":"********","d":"********","e":["********"]}`},
		"a key in PEM form":       {`{cert: "-----BEGIN PRIVATE KEY-----\ncAnArY"}`, `{"cert":"********"}`},
		"long random text":        {`{id: cAnArY0123456789abcdefABCDEF, model: sentence-transformers/nomic-ai/nomic-embed-text-v1.5, hub: Llama-Guard-3-8B}`, `{"hub":"Llama-Guard-3-8B","id":"********","model":"sentence-transformers/nomic-ai/nomic-embed-text-v1.5"}`},
		"addresses of people":     {`{contact: me@example.com, image: "quay.io/a/b@sha"}`, `{"contact":"me@example.com","image":"quay.io/a/b@sha"}`},
		"signs stay as they are":  {`{text: "<a> & b"}`, `{"text":"<a> & b"}`},
		"nothing":                 {`{}`, ""},
		"aliases are written out": {`{a: &x {api_key: cAnArY, port: 1}, b: *x}`, `{"a":{"api_key":"********","port":1},"b":{"api_key":"********","port":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			config := "providers:\n  inference:\n  - provider_id: ${env.VLLM_URL:+vllm}\n    provider_type: remote::vllm\n    config: " + tc.config + "\n"
			redacted := redact.Settings([]byte(config))
			got := string(redacted[redact.ProviderKey{API: "inference", ID: "vllm", Type: "remote::vllm"}])
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
			if strings.Contains(got, "cAnArY") {
				t.Errorf("a credential is redacted: %s", got)
			}
		})
	}
}

// Of a file that is none nothing is redacted, of a large one as much as fits.
func TestSettingsOfAnything(t *testing.T) {
	for _, config := range []string{"", "\t", "a", "[]", "providers: 1", "providers: {inference: 1}", "providers: {inference: [1]}"} {
		if got := redact.Settings([]byte(config)); len(got) > 0 {
			t.Errorf("%q: %v", config, got)
		}
	}
	var large strings.Builder
	large.WriteString("providers:\n  inference:\n")
	for _, id := range []string{"a", "b", "c"} {
		large.WriteString("  - {provider_id: " + id + ", provider_type: remote::x, config: {text: '" + strings.Repeat("- ", 15<<10) + "'}}\n")
	}
	if got := redact.Settings([]byte(large.String())); len(got) != 2 {
		t.Errorf("settings of %d providers are redacted", len(got))
	}
}

// The settings of every provider that ships are redacted.
func TestSettingsOfDistributions(t *testing.T) {
	resolved, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	redacted := redact.Settings(resolved.Base)
	for provider, want := range map[redact.ProviderKey]string{
		{API: "inference", ID: "vllm", Type: "remote::vllm"}:         "${env.VLLM_URL:=}",
		{API: "vector_io", ID: "faiss", Type: "inline::faiss"}:       "vector_io::faiss",
		{API: "inference", ID: "openai", Type: "remote::openai"}:     "${env.OPENAI_API_KEY:=}",
		{API: "vector_io", ID: "pgvector", Type: "remote::pgvector"}: "${env.PGVECTOR_PASSWORD:=}",
		{API: "files", ID: "builtin-files", Type: "inline::localfs"}: "${env.FILES_STORAGE_DIR:=",
	} {
		if got := string(redacted[provider]); !strings.Contains(got, want) {
			t.Errorf("%v: %q has no %q", provider, got, want)
		}
	}
}
