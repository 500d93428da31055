package intent_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

func itoa(n int32) string { return strconv.Itoa(int(n)) }

// paths compares field paths as strings.
var paths = cmp.Transformer("path", func(p *field.Path) string {
	if p == nil {
		return ""
	}
	return p.String()
})

func path(text string) *field.Path { return field.NewPath(text) }

func normal(t *testing.T, spec string) *intent.Intent {
	t.Helper()
	in, errs := intent.FromObject(object(t, spec))
	if len(errs) > 0 {
		t.Fatalf("unexpected:\n%s", intent.Messages(errs))
	}
	return in
}

func TestProviders(t *testing.T) {
	in := normal(t, `
providers:
  datasetIo: {provider: localfs}
  inference:
  - id: second
    provider: vllm
    endpoint: http://vllm:8000
    settings: {b: 1.50, a: {x: [true, null]}}
  - id: first
    provider: remote::openai
    apiKey: {secretKeyRef: {name: openai, key: token}}
  vectorIo:
    provider: remote::pgvector
    user: {secretKeyRef: {name: pg, key: user}}
    secretRefs:
      host: {secretKeyRef: {name: pg, key: host}}
`)
	want := []intent.Provider{
		{
			API: "inference", ID: "second", Type: "vllm", Endpoint: "http://vllm:8000",
			Settings: map[string]any{"b": json.Number("1.5"), "a": map[string]any{"x": []any{true, nil}}},
			Path:     path("spec.providers.inference[0]"),
		},
		{
			API: "inference", ID: "first", Type: "remote::openai", Path: path("spec.providers.inference[1]"),
			APIKey: &intent.SecretRef{Name: "openai", Key: "token", EnvVar: "LLSD_FIRST_API_KEY", Path: path("spec.providers.inference[1].apiKey.secretKeyRef")},
		},
		{
			API: "vector_io", ID: "pgvector", Type: "remote::pgvector", Path: path("spec.providers.vectorIo"),
			Secrets: []intent.SecretKey{
				{Key: "host", SecretRef: intent.SecretRef{Name: "pg", Key: "host", EnvVar: "LLSD_PGVECTOR_HOST", Path: path("spec.providers.vectorIo.secretRefs[host].secretKeyRef")}},
				{Key: "user", SecretRef: intent.SecretRef{Name: "pg", Key: "user", EnvVar: "LLSD_PGVECTOR_USER", Path: path("spec.providers.vectorIo.user.secretKeyRef")}},
			},
		},
		{API: "datasetio", ID: "localfs", Type: "localfs", Path: path("spec.providers.datasetIo")},
	}
	if diff := cmp.Diff(want, in.Providers, paths); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
}

// FR-035 defines the ID of a provider that does not set an ID.
func TestDefaultID(t *testing.T) {
	for providerType, want := range map[string]string{
		"vllm": "vllm", "remote::vllm": "vllm", "inline::sentence-transformers": "sentence-transformers",
		"remote::hf::serverless": "serverless",
	} {
		in := normal(t, "providers: {inference: {provider: '"+providerType+"'}}")
		if got := in.Providers[0].ID; got != want {
			t.Errorf("%s has the ID %q, want %q", providerType, got, want)
		}
	}
}

// Each API in the list has a field in spec.providers. The models API has no providers, and therefore no field.
func TestAPIFields(t *testing.T) {
	for name, api := range map[string]string{
		"inference": "inference", "safety": "safety", "vectorIo": "vector_io", "toolRuntime": "tool_runtime",
		"telemetry": "telemetry", "agents": "agents", "responses": "responses", "files": "files", "batches": "batches",
		"eval": "eval", "scoring": "scoring", "datasetIo": "datasetio", "postTraining": "post_training",
		"fileProcessors": "file_processors", "messages": "messages", "interactions": "interactions", "skills": "skills",
	} {
		in := normal(t, "providers: {"+name+": {provider: x}}")
		if len(in.Providers) != 1 || in.Providers[0].API != api {
			t.Errorf("spec.providers.%s gives %+v, want the API %s", name, in.Providers, api)
		}
		if intent.APIField(api) != name || intent.API(name) != api {
			t.Errorf("%s is %q and %s is %q", api, intent.APIField(api), name, intent.API(name))
		}
	}
	if intent.APIField("models") != "" || intent.API("models") != "" {
		t.Error("models is not a field of spec.providers")
	}
}

func TestResources(t *testing.T) {
	in := normal(t, `
resources:
  models:
  - plain
  - {name: full, provider: vllm, providerModelId: meta/full, modelType: llm, contextLength: 8192,
     quantization: fp8, metadata: {a: 1}}
  tools: [websearch, {name: mcp, provider: p, mcpEndpoint: "https://mcp/", args: {a: b}}]
  shields: [guard, {name: g, provider: s, model: m, params: {a: b}}]
`)
	length := int64(8192)
	if diff := cmp.Diff([]intent.Model{
		{Name: "plain", Path: path("spec.resources.models[0]")},
		{
			Name: "full", Provider: "vllm", ProviderModelID: "meta/full", ModelType: "llm", ContextLength: &length,
			Quantization: "fp8", Metadata: map[string]any{"a": json.Number("1")}, Path: path("spec.resources.models[1]"),
		},
	}, in.Models, paths); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]intent.Tool{
		{Name: "websearch", Path: path("spec.resources.tools[0]")},
		{
			Name: "mcp", Provider: "p", MCPEndpoint: "https://mcp/", Args: map[string]any{"a": "b"},
			Path: path("spec.resources.tools[1]"),
		},
	}, in.Tools, paths); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]intent.Shield{
		{Name: "guard", Path: path("spec.resources.shields[0]")},
		{Name: "g", Provider: "s", Model: "m", Params: map[string]any{"a": "b"}, Path: path("spec.resources.shields[1]")},
	}, in.Shields, paths); diff != "" {
		t.Errorf("shields (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	in := normal(t, "distribution: {name: starter, version: '0.7'}\nstorage: {kv: {}, sql: {}}")
	if in.Server.Port != 8321 || in.Server.Workers != 0 {
		t.Errorf("server %+v, want port 8321 (FR-060) and no workers", in.Server)
	}
	if in.Storage.KV.Type != intent.SQLite || in.Storage.SQL.Type != intent.SQLite {
		t.Errorf("stores %+v and %+v, want sqlite (FR-050b, FR-051a)", in.Storage.KV, in.Storage.SQL)
	}
	if want := (intent.Distribution{Name: "starter", Version: "0.7"}); in.Distribution != want || in.Name != "demo" || in.Namespace != "default" {
		t.Errorf("got %+v of %s/%s", in.Distribution, in.Namespace, in.Name)
	}
	if in := normal(t, ""); in.Storage.KV != nil || in.Storage.SQL != nil {
		t.Error("an empty spec has a state store (FR-053)")
	}
}

func TestServerAndDisabled(t *testing.T) {
	in := normal(t, `
networking: {port: 9000}
workload:
  workers: 3
  overrides:
    env: [{name: SET, value: x}, {name: EMPTY},
      {name: FROM, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: SET, value: y}]
disabled: [safety, inference/groq, safety]
secretEnv: {MINE: {secretKeyRef: {name: s, key: k}}}
`)
	if in.Server.Port != 9000 || in.Server.Workers != 3 {
		t.Errorf("server %+v", in.Server)
	}
	if diff := cmp.Diff([]string{"FROM", "SET"}, in.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]intent.Disabled{
		{API: "safety", Path: path("spec.disabled[0]")},
		{API: "inference", Provider: "groq", Path: path("spec.disabled[1]")},
	}, in.Disabled, paths); diff != "" {
		t.Errorf("disabled (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]intent.Variable{{
		Name: "MINE", SecretRef: intent.SecretRef{
			Name: "s", Key: "k", EnvVar: "MINE",
			Path: path("spec.secretEnv[MINE].secretKeyRef"),
		},
	}}, in.SecretEnv, paths); diff != "" {
		t.Errorf("secretEnv (-want +got):\n%s", diff)
	}
}

func TestSecrets(t *testing.T) {
	in := normal(t, `
providers:
  inference:
    id: vllm-primary
    provider: vllm
    apiKey: {secretKeyRef: {name: v, key: t}}
  vectorIo:
    provider: pgvector
    host: {secretKeyRef: {name: pg, key: h}}
storage:
  kv: {type: redis, endpoint: cache, password: {secretKeyRef: {name: r, key: p}}}
  sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}
networking: {tls: {enabled: true, secretName: cert}}
secretEnv: {MINE: {secretKeyRef: {name: s, key: k}}}
`)
	if diff := cmp.Diff([]intent.SecretUse{
		{Secret: "cert", Key: "tls.crt", Path: "spec.networking.tls.secretName", Purpose: intent.PurposeCertificate},
		{Secret: "cert", Key: "tls.key", Path: "spec.networking.tls.secretName", Purpose: intent.PurposeCertificate},
		{Secret: "pg", Key: "h", Path: "spec.providers.vectorIo.host.secretKeyRef", EnvVar: "LLSD_PGVECTOR_HOST", Purpose: intent.PurposeProvider},
		{
			Secret: "r", Key: "p", Path: "spec.storage.kv.password.secretKeyRef", EnvVar: "LLSD_STORAGE_KV_PASSWORD",
			Purpose: intent.PurposePassword,
		},
		{Secret: "pg", Key: "url", Path: "spec.storage.sql.connectionString.secretKeyRef", EnvVar: "LLSD_STORAGE_SQL_CONNECTION_STRING", Purpose: intent.PurposeConnectionString},
		{Secret: "v", Key: "t", Path: "spec.providers.inference.apiKey.secretKeyRef", EnvVar: "LLSD_VLLM_PRIMARY_API_KEY", Purpose: intent.PurposeProvider},
		{Secret: "s", Key: "k", Path: "spec.secretEnv[MINE].secretKeyRef", EnvVar: "MINE", Purpose: intent.PurposeVariable},
	}, in.Secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
}

// Two references to the same value can share a variable.
func TestSecretsOfOneValue(t *testing.T) {
	in := normal(t, `
providers:
  inference:
  - {id: a-b, provider: vllm, apiKey: {secretKeyRef: {name: one, key: k}}}
  - {id: a_b, provider: vllm, apiKey: {secretKeyRef: {name: one, key: k}}}
`)
	if len(in.Secrets) != 2 {
		t.Errorf("got %v", in.Secrets)
	}
}

func TestConfigMaps(t *testing.T) {
	obj := object(t, `
networking: {tls: {caBundle: {configMapName: ca}}}
baseConfig: {configMapName: base}
overrideConfig: {configMapName: all, key: run.yaml}
`)
	if diff := cmp.Diff([]intent.ConfigMapUse{
		{Name: "ca", Keys: []string{"ca-bundle.crt"}, Path: "spec.networking.tls.caBundle.configMapName", Purpose: intent.PurposeCABundle},
		{Name: "base", Keys: []string{"config.yaml"}, Path: "spec.baseConfig.configMapName", Purpose: intent.PurposeBase},
		{Name: "all", Keys: []string{"run.yaml"}, Path: "spec.overrideConfig.configMapName", Purpose: intent.PurposeOverride},
	}, intent.ConfigMaps(obj)); diff != "" {
		t.Errorf("ConfigMaps (-want +got):\n%s", diff)
	}
	obj.Spec.Networking.TLS.CABundle.ConfigMapKeys = []string{"a", "b"}
	if got := fmt.Sprint(intent.ConfigMaps(obj)[0].Keys); got != "[a b]" {
		t.Errorf("keys %s", got)
	}
}

func TestExpose(t *testing.T) {
	yes, no := true, false
	for raw, tc := range map[string]struct {
		enabled bool
		spec    v1alpha2.ExposeSpec
		err     string
	}{
		"true":               {enabled: true},
		"false":              {},
		"{}":                 {enabled: true},
		`{"enabled":true}`:   {enabled: true, spec: v1alpha2.ExposeSpec{Enabled: &yes}},
		`{"enabled":false}`:  {spec: v1alpha2.ExposeSpec{Enabled: &no}},
		`{"hostname":"a.b"}`: {enabled: true, spec: v1alpha2.ExposeSpec{Hostname: "a.b"}},
		`{"annotations":{"a":"b"},"ingressClassName":"n","tlsSecretName":"t"}`: {
			enabled: true,
			spec:    v1alpha2.ExposeSpec{Annotations: map[string]string{"a": "b"}, IngressClassName: "n", TLSSecretName: "t"},
		},
		`"yes"`:                   {err: "expose: must be true, false, or an object {hostname: <name>, …}, got a string"},
		`{"hostnam":"a"}`:         {err: `expose.hostnam: unknown field; did you mean "hostname"?`},
		`{"enabled":"on"}`:        {err: "expose.enabled: must be true or false, got a string"},
		`{"annotations":{"a":1}}`: {err: "expose.annotations[a]: must be a string, got a number; quote it", spec: v1alpha2.ExposeSpec{Annotations: map[string]string{}}},
		`{`:                       {err: "expose: is not valid JSON; correct the syntax of the value"},
	} {
		t.Run(raw, func(t *testing.T) {
			enabled, spec, errs := intent.DecodeExpose(&v1alpha2.Expose{Raw: []byte(raw)}, path("expose"))
			if enabled != tc.enabled || intent.Messages(errs) != tc.err {
				t.Errorf("got %t, %q", enabled, intent.Messages(errs))
			}
			if diff := cmp.Diff(tc.spec, spec); tc.err == "" && diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
	if enabled, _, errs := intent.DecodeExpose(nil, path("expose")); enabled || errs != nil {
		t.Error("an unset field exposes the stack, or is an error")
	}
}

func TestMessage(t *testing.T) {
	for want, err := range map[string]*field.Error{
		"a: b":                field.Forbidden(path("a"), "b"),
		"b":                   field.Forbidden(nil, "b"),
		"c: Not found: \"x\"": field.NotFound(path("c"), "x"),
	} {
		if got := intent.Message(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	twice := field.ErrorList{
		field.Forbidden(path("a"), "b"), field.Forbidden(path("a"), "b"),
		field.Forbidden(path("c"), "d"),
	}
	if got := intent.Messages(twice); got != "a: b\nc: d" {
		t.Errorf("messages %q", got)
	}
}

// The command of a v1alpha1 stack can listen on a port on which a server with a generated configuration cannot listen.
func TestPortOfAnOlderStack(t *testing.T) {
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Spec.Networking = &v1alpha2.NetworkingSpec{Port: 80}
	if _, errs := intent.FromObject(stack); len(errs) == 0 {
		t.Error("port 80 is accepted")
	}
	stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	if _, errs := intent.FromObject(stack); len(errs) > 0 {
		t.Errorf("port 80 of a v1alpha1 stack: %v", errs)
	}
	stack.Spec.Providers = &v1alpha2.ProvidersSpec{Inference: v1alpha2.NewProviders(v1alpha2.Provider{Provider: "vllm"})}
	if _, errs := intent.FromObject(stack); len(errs) == 0 {
		t.Error("port 80 in a generated configuration is accepted")
	}
}
