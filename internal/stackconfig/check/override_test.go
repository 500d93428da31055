package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// The starter configuration of the default release has no findings.
func TestOverrideOfDistributions(t *testing.T) {
	starter, ok := release.Default().Distribution("starter")
	if !ok {
		t.Fatal("the default release ships no starter")
	}
	data, err := starter.YAML()
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range check.Override(data, release.Default()) {
		t.Errorf("starter: %s", finding)
	}
}

func TestOverride(t *testing.T) {
	const config = `version: 2
distro_name: mine
apis: [inference, infrence]
providers:
  inference:
  - {provider_id: a, provider_type: "remote::vlm"}
  - {provider_id: b, provider_type: "remote::vllm",
     config: {base_url: "http://vllm:8000/v1", max_token: 5, max_tokens: many}}
  - {provider_id: c, provider_type: "remote::mine", module: mine}
  - {provider_id: "${env.D:+d}", provider_type: "remote::vllm"}
  scoring:
  - {provider_id: basic, provider_type: "inline::basic"}
  - {provider_id: judge, provider_type: "inline::llm-as-judge"}
registered_resources:
  scoring_fns:
  - {scoring_fn_id: mine, provider_id: basic, description: mine, return_type: {type: number}}
  - {scoring_fn_id: judged, provider_id: judge, description: mine, return_type: {type: number}}
nonsense: {a: 1}
server: {port: "${env.PORT:=8321}"}
`
	want := []string{
		`spec.overrideConfig: nonsense: unknown key; the server ignores it; remove the key`,
		`spec.overrideConfig: apis[1]: server release 0.7 has no API "infrence"; correct or remove this entry`,
		`spec.overrideConfig: providers.inference[0]: "remote::vlm" is not a type of inference provider in release 0.7; did you mean "remote::vllm"?`,
		`spec.overrideConfig: providers.inference[1].config.max_token: unknown key; the server ignores it; did you mean "max_tokens"?`,
		`spec.overrideConfig: providers.inference[1].config.max_tokens: must be a whole number, found text`,
		`spec.overrideConfig: registered_resources.scoring_fns[0].provider_id: inline::basic cannot register scoring_fns from a ` +
			`configuration, so the server does not start; remove the entry`,
	}
	var got []string
	for _, finding := range check.Override([]byte(config), release.Default()) {
		got = append(got, finding.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if found := check.Override([]byte("a: [\n"), release.Default()); len(found) != 1 {
		t.Errorf("no YAML: %v", found)
	}
}
