package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// The starter configuration of the default release has no findings.
func TestOverrideOfDistributions(t *testing.T) {
	starter, ok := release.Default().Distribution("starter")
	if !ok {
		t.Fatal("the default release ships no starter")
	}
	data := []byte(starter.YAML)
	pod := check.Pod{Release: release.Default(), Published: true}
	errs, warnings := check.Override(data, pod)
	if len(errs) > 0 || len(warnings) > 0 {
		t.Errorf("starter: errors %v, warnings %v", errs, warnings)
	}
}

// found returns the findings about a user's own configuration, with a mark before each error.
func found(config string, pod check.Pod) []string {
	if pod.Release == nil {
		pod.Release = release.Default()
	}
	errs, warnings := check.Override([]byte(config), pod)
	var all []string
	for _, err := range errs {
		all = append(all, "error "+intent.Message(err))
	}
	for _, warning := range warnings {
		all = append(all, warning.String())
	}
	return all
}

func TestOverride(t *testing.T) {
	const config = `version: 2
distro_name: mine
apis: [inference, infrence, batches]
providers:
  inference:
  - {provider_id: a, provider_type: "remote::vlm"}
  - {provider_id: b, provider_type: "remote::vllm",
     config: {base_url: "http://vllm:8000/v1", max_token: 5, max_tokens: many}}
  - {provider_id: c, provider_type: "remote::mine", module: mine}
  - {provider_id: "${env.D:+d}", provider_type: "remote::vllm"}
  - {provider_id: "${env.E:+e}", provider_type: "remote::none"}
  scoring:
  - {provider_id: basic, provider_type: "inline::basic"}
  - {provider_id: judge, provider_type: "inline::llm-as-judge"}
registered_resources:
  models: [{model_id: m, provider_id: nobody}]
  scoring_fns:
  - {scoring_fn_id: mine, provider_id: basic, description: mine, return_type: {type: number}}
nonsense: {a: 1}
server: {port: "${env.PORT:=8321}", host: "${env.HOST_NAME}"}
`
	want := []string{
		`error spec.overrideConfig: server.host: the variable HOST_NAME is not set, and the server does not start without it: ` +
			`set it in spec.secretEnv or spec.workload.overrides.env, or give it a default, ${env.HOST_NAME:=…}`,
		`error spec.overrideConfig: apis[1]: server release 0.7 has no API "infrence"; correct or remove this entry`,
		`error spec.overrideConfig: apis[2]: "batches" has no provider, and the server does not start without a provider of this API; ` +
			`add a provider to providers.batches or remove the API from apis`,
		`error spec.overrideConfig: providers.inference[0]: "remote::vlm" is not a type of inference provider in release 0.7; did you mean "remote::vllm"?`,
		`error spec.overrideConfig: providers.inference[1].config.max_tokens: must be a whole number, found text`,
		`error spec.overrideConfig: providers.scoring[0]: scoring/basic, scoring/judge require the API datasetio; add a provider to providers.datasetio`,
		`error spec.overrideConfig: registered_resources.models[0].provider_id: "nobody" is not a provider of the API inference; ` +
			`available: a, b, c, d, e`,
		`error spec.overrideConfig: registered_resources.scoring_fns[0].provider_id: inline::basic cannot register scoring_fns from a ` +
			`configuration, so the server does not start; remove the entry`,
		`spec.overrideConfig: nonsense: unknown key; the server ignores it; remove the key`,
		`spec.overrideConfig: providers.inference[1].config.max_token: unknown key; the server ignores it; did you mean "max_tokens"?`,
	}
	if diff := cmp.Diff(want, found(config, check.Pod{Published: true})); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// The server does not start with a file that has no section of providers, or one of the wrong kind. It does not check
// the version.
func TestOverrideOfTheWrongShape(t *testing.T) {
	for config, want := range map[string]string{
		"distro_name: a\n":                            "error spec.overrideConfig: providers: required key is missing; its value must be a mapping",
		"distro_name: a\nproviders:\n":                "error spec.overrideConfig: providers: must be a mapping, found null",
		"distro_name: a\nproviders: [a]\n":            "error spec.overrideConfig: providers: must be a mapping, found a list",
		"distro_name: a\nproviders: {}\nversion: 9\n": "spec.overrideConfig: Unsupported config.yaml version 9. Supported versions: 1, 2",
		"a: [\n": "error spec.overrideConfig: is not YAML: yaml: line 1: did not find expected node content",
	} {
		if diff := cmp.Diff([]string{want}, found(config, check.Pod{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", config, diff)
		}
	}
}

// A variable without a default is an error only if just the spec can set it.
func TestOverrideVariables(t *testing.T) {
	const config, unset = "distro_name: ${env.%s}\nproviders: {}\n", "spec.overrideConfig: distro_name: nothing in the spec sets the variable "
	for name, tc := range map[string]struct {
		variable string
		pod      check.Pod
		want     string
	}{
		"unset":          {"OWN", check.Pod{Published: true}, "error "},
		"set":            {"OWN", check.Pod{Published: true, Variables: []string{"OWN"}}, ""},
		"of the runtime": {"HOME", check.Pod{Published: true}, ""},
		"of a Service":   {"REDIS_SERVICE_HOST", check.Pod{Published: true, ServiceLinks: true}, unset + "REDIS_SERVICE_HOST; if a Service does not"},
		"of no Service":  {"REDIS_SERVICE_HOST", check.Pod{Published: true}, "error "},
		"envFrom":        {"OWN", check.Pod{Published: true, MoreVariables: true}, unset + "OWN; if a source in spec.workload.overrides.envFrom does not"},
		"another image":  {"OWN", check.Pod{}, unset + "OWN; if the image does not"},
	} {
		got := strings.Join(found(fmt.Sprintf(config, tc.variable), tc.pod), "\n")
		if !strings.HasPrefix(got, tc.want) || (tc.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestOverrideWithAccessRules checks that access rules require a store for the owners of vector stores.
func TestOverrideWithAccessRules(t *testing.T) {
	const config = `version: 2
distro_name: mine
apis: [inference, vector_io, files]
providers:
  inference: [{provider_id: vllm, provider_type: "remote::vllm", config: {base_url: "http://vllm:8000/v1"}}]
  files:
  - {provider_id: f, provider_type: "inline::localfs",
     config: {storage_dir: /tmp/f, metadata_store: {backend: sql_default, table_name: f}}}
  vector_io:
  - {provider_id: faiss, provider_type: "inline::faiss", config: {persistence: {backend: kv_default, namespace: v}}}
storage:
  backends:
    kv_default: {type: kv_sqlite, db_path: /tmp/kv.db}
    sql_default: {type: sql_sqlite, db_path: /tmp/sql.db}
  stores: {metadata: {backend: kv_default, namespace: registry}}
server:
  auth:
    provider_config: {type: custom, endpoint: "http://auth/check"}
    access_policy: [{permit: {actions: [read]}}]
`
	want := "error spec.overrideConfig: storage.stores.vector_stores: with server.auth.access_policy and a provider of the API " +
		"vectorIo, the server does not start without this store; add the store"
	for line, needed := range map[string]bool{"1.0": false, "1.1": true, "1.5": true} {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		got := found(config, check.Pod{Release: match.Release, Published: true})
		if slices.Contains(got, want) != needed {
			t.Errorf("%s: %q", line, got)
		}
	}
}
