package v1alpha2_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Decoding keeps every valid JSON value, so that one invalid object never prevents the decoding of a list of objects.
func TestTwoShapesKeepWhatWasWritten(t *testing.T) {
	for _, value := range []string{
		`{"provider":"vllm","settings":{"b":1,"a":12345678901234567890}}`, `[{"id":"a","provider":"vllm"},{}]`,
		`"vllm"`, `true`, `7`, `1.50`, `[]`, `{}`, `[[null]]`, `"\u003ca\u003e"`,
	} {
		spec := `{"distribution":{"name":"starter"},"providers":{"inference":` + value + `},"resources":{"models":[` + value +
			`],"tools":[` + value + `],"shields":[` + value + `]},"networking":{"expose":` + value + `}}`
		var decoded v1alpha2.LlamaStackDistributionSpec
		if err := json.Unmarshal([]byte(spec), &decoded); err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		encoded, err := json.Marshal(decoded.DeepCopy())
		if err != nil {
			t.Errorf("%s: %v", value, err)
			continue
		}
		var again v1alpha2.LlamaStackDistributionSpec
		if err := json.Unmarshal(encoded, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded, again); diff != "" {
			t.Errorf("%s (-decoded +again):\n%s", value, diff)
		}
		if got := string(decoded.Providers.Inference.Raw); got != value {
			t.Errorf("wrote %s, kept %s", value, got)
		}
	}
}

// White space has no effect. A null field has no value, but a null entry in a list is a value. A wrapper without
// content is encoded as null.
func TestTwoShapesInTheirSimplestForm(t *testing.T) {
	var spec v1alpha2.LlamaStackDistributionSpec
	err := json.Unmarshal([]byte(`{"providers":{"inference": { "provider" : "vllm" },"safety":null},"resources":{"models":[null]}}`), &spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(spec.Providers.Inference.Raw); got != `{"provider":"vllm"}` {
		t.Errorf("kept %s", got)
	}
	if spec.Providers.Safety != nil {
		t.Errorf("null is %s", spec.Providers.Safety.Raw)
	}
	if got := string(spec.Resources.Models[0].Raw); got != "null" {
		t.Errorf("null in a list is %q", got)
	}
	for _, empty := range []json.Marshaler{
		v1alpha2.Providers{}, v1alpha2.ModelEntry{}, v1alpha2.ToolEntry{}, v1alpha2.ShieldEntry{}, v1alpha2.Expose{},
	} {
		if data, err := json.Marshal(empty); err != nil || string(data) != "null" {
			t.Errorf("%T without content is %s, %v", empty, data, err)
		}
	}
}

func TestNotJSON(t *testing.T) {
	var providers v1alpha2.Providers
	if err := providers.UnmarshalJSON([]byte(`{"provider":`)); err == nil {
		t.Error("an incomplete object is accepted")
	}
}

func TestConstructors(t *testing.T) {
	ref := v1alpha2.SecretReference{SecretKeyRef: v1alpha2.SecretKeyRef{Name: "pg", Key: "host"}}
	provider := v1alpha2.Provider{ID: "a", Provider: "pgvector", Shorthand: map[string]v1alpha2.SecretReference{"host": ref}}
	const object = `{"host":{"secretKeyRef":{"name":"pg","key":"host"}},"id":"a","provider":"pgvector"}`
	for want, got := range map[string][]byte{
		object:                v1alpha2.NewProviders(provider).Raw,
		"[" + object + "]":    v1alpha2.NewProviderList(provider).Raw,
		`"llama3.2-8b"`:       v1alpha2.NewModelName("llama3.2-8b").Raw,
		`{"name":"llama"}`:    v1alpha2.NewModel(v1alpha2.Model{Name: "llama"}).Raw,
		`true`:                v1alpha2.NewExpose(true).Raw,
		`{"provider":"vllm"}`: v1alpha2.NewProviders(v1alpha2.Provider{Provider: "vllm"}).Raw,
	} {
		if string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestShorthandThatIsAField(t *testing.T) {
	_, err := json.Marshal(v1alpha2.Provider{Provider: "vllm", Shorthand: map[string]v1alpha2.SecretReference{"provider": {}}})
	if err == nil {
		t.Error("a shorthand key replaced a field")
	}
}
