package providers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

func newDraft(t *testing.T, base string, in *intent.Intent) *draft.Draft {
	t.Helper()
	parsed, err := baseconfig.Parse([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	d := draft.New(parsed, in, release.Default(), "")
	draft.Resolve(d)
	return d
}

// A user's provider replaces the base's provider with the same ID, even if the base's provider has a condition. The
// user's other providers follow those of the base.
func TestApply(t *testing.T) {
	const base = `providers:
  inference:
  - {provider_id: "${env.URL:+a}", provider_type: "remote::vllm"}
  - {provider_id: b, provider_type: "remote::vllm"}
`
	d := newDraft(t, base,
		&intent.Intent{Providers: []intent.Provider{
			{API: "inference", ID: "c", Type: "openai"},
			{API: "inference", ID: "a", Type: "vllm", Endpoint: "http://vllm:8000"},
		}})
	providers.Apply(d)
	want := `providers:
  inference:
  - provider_id: a
    provider_type: remote::vllm
    config:
      base_url: http://vllm:8000/v1
  - {provider_id: b, provider_type: "remote::vllm"}
  - provider_id: c
    provider_type: remote::openai
`
	if diff := cmp.Diff(want, string(yamlnode.Encode(d.Root, ""))); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	if report := d.Finish(); len(report.Errors)+len(report.Warnings) > 0 {
		t.Errorf("findings: %v, %v", report.Errors, report.Warnings)
	}
}

func TestMeantType(t *testing.T) {
	d := newDraft(t, "{}", &intent.Intent{})
	for _, tt := range []struct{ api, kind, want string }{
		{"inference", "remote::vlm", `; did you mean "remote::vllm"?`},
		{"safety", "vllm", "; remote::vllm is a type of inference provider; move the entry to the API inference"},
		{"vector_io", "neo4j", "; releases that have it: 1.3, 1.4, 1.5"},
	} {
		if got := providers.MeantType(d, &intent.Provider{API: tt.api, Type: tt.kind}); got != tt.want {
			t.Errorf("%s/%s: %q, want %q", tt.api, tt.kind, got, tt.want)
		}
	}
}
