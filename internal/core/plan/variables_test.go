package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// The plan warns about variables that nothing reads in the release, and about values that the configuration reads as
// endpoints and that are probably mistakes. It does so in every mode and for both API versions.
func TestVariableWarnings(t *testing.T) {
	const (
		at    = "spec.workload.overrides.env[0]: "
		older = "distribution: {name: starter, version: \"0.7\"}\n"
		newer = "distribution: {name: starter, version: \"1.5\"}\n"
		local = `refers to the pod of the server itself ("localhost"), in which nothing else runs; write the name of a Service, such as vllm or vllm.my-namespace.svc`
	)
	for name, tc := range map[string]struct{ spec, variable, value, want string }{
		"log levels, newer":           {newer, "LLAMA_STACK_LOGGING", "all=debug", at + `server release 1.5 does not read the variable "LLAMA_STACK_LOGGING"; set "OGX_LOGGING" instead`},
		"log levels, older":           {older, "OGX_LOGGING", "all=debug", at + `server release 0.7 does not read the variable "OGX_LOGGING"; set "LLAMA_STACK_LOGGING" instead`},
		"log levels, right":           {newer, "OGX_LOGGING", "all=debug", ""},
		"log levels, unknown release": {"distribution: {image: \"example.com/a:b\"}\n", "OGX_LOGGING", "all=debug", ""},
		"another directory":           {newer, "LLAMA_STACK_CONFIG_DIR", "/a", at + `server release 1.5 does not read the variable "LLAMA_STACK_CONFIG_DIR"; set "OGX_CONFIG_DIR" instead`},
		"any variable of newer releases": {
			older, "OGX_METRICS_PORT", "1",
			at + `server release 0.7 does not read the variable "OGX_METRICS_PORT", because only releases from 0.8 on read variables that begin with OGX_; remove it`,
		},
		"a near miss": {older, "VLLM_URI", "http://vllm/v1", at + `nothing in the server's configuration reads the variable "VLLM_URI"; did you mean "VLLM_URL"?`},
		"a near miss in an own configuration": {
			ownConfig, "MY_URI", "a", at + `nothing in the server's configuration reads the variable "MY_URI"; did you mean "MY_URL"?`,
		},
		"not near":                      {older, "MY_VARIABLE", "a", ""},
		"an endpoint without its path":  {older, "VLLM_URL", "http://vllm:8000", at + `VLLM_URL: "http://vllm:8000" has no path, and remote::vllm requires /v1; write "http://vllm:8000/v1"`},
		"an endpoint with its path":     {older, "VLLM_URL", "http://vllm:8000/v1", ""},
		"an endpoint with an operation": {older, "VLLM_URL", "http://vllm/v1/chat/completions", at + `VLLM_URL: "http://vllm/v1/chat/completions" contains the path of an operation (/chat/completions), which the server adds itself; write "http://vllm/v1"`},
		"an endpoint with two schemes":  {older, "VLLM_URL", "http://https://vllm/v1", at + `VLLM_URL: "http://https://vllm/v1" contains two schemes; write "https://vllm/v1"`},
		"an endpoint in the pod": {
			older, "VLLM_URL", "http://localhost:8000/v1", at + `VLLM_URL: "http://localhost:8000/v1" ` + local,
		},
		"an endpoint that is an example":   {older, "VLLM_URL", "http://<host>/v1", at + `VLLM_URL: "http://<host>/v1" contains a placeholder ("<"); write the name of the host`},
		"an endpoint with a credential":    {older, "VLLM_URL", "http://a:secret@vllm", ""},
		"an endpoint in an own config":     {ownConfig, "MY_URL", "http://vllm:8000", at + `MY_URL: "http://vllm:8000" has no path, and remote::vllm requires /v1; write "http://vllm:8000/v1"`},
		"an endpoint of an unknown config": {"distribution: {image: \"example.com/a:b\"}\n", "VLLM_URL", "http://vllm:8000", at + `VLLM_URL: "http://vllm:8000" has no path, and remote::vllm requires /v1; write "http://vllm:8000/v1"`},
		"a host":                           {older, "PGVECTOR_HOST", "localhost", at + `PGVECTOR_HOST: "localhost" ` + local},
	} {
		for _, compat := range []bool{false, true} {
			in := input(t, tc.spec+fmt.Sprintf("workload: {overrides: {env: [{name: %s, value: %q}]}}\n", tc.variable, tc.value))
			if in.Override != nil {
				in.Override.Data = []byte("distro_name: a\nproviders: {inference: [{provider_id: a, provider_type: \"remote::vllm\", config: {base_url: \"${env.MY_URL:=http://a/v1}\"}}]}\n")
				in.Override.Files = map[string][]byte{"server.yaml": in.Override.Data}
			}
			if compat {
				in.Object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
			}
			var got []string
			for _, line := range lines(build(t, in).Warnings) {
				if strings.HasPrefix(line, at) {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("%s, v1alpha1 %t (-want +got):\n%s", name, compat, diff)
			}
		}
	}
}

// TestManyVariables checks that the work for the user's variables is bounded, although a configuration can read tens of
// thousands of other variables.
func TestManyVariables(t *testing.T) {
	const count, users = 16_000, 100
	var config, env strings.Builder
	for i := range count {
		fmt.Fprintf(&config, "- ${env.READ_%05d:=x}\n", i)
	}
	for i := range users {
		fmt.Fprintf(&env, "{name: USER_%05d, value: x},", i)
	}
	in := input(t, ownConfig+"workload: {overrides: {env: ["+env.String()+"]}}\n")
	in.Override.Data = []byte("distro_name: a\nproviders: {inference: []}\nx:\n" + config.String())
	in.Override.Files = map[string][]byte{"server.yaml": in.Override.Data}
	allocations := testing.AllocsPerRun(1, func() { build(t, in) })
	if allocations > count*users {
		t.Errorf("%.0f allocations for %d variables that the configuration reads, and %d of the user", allocations, count, users)
	}
}
