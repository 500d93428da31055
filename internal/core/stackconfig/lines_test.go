package stackconfig_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
)

// generateFor generates the configuration for a spec from the starter distribution of a release line, and returns the
// configuration with all findings.
func generateFor(t *testing.T, line, spec string) (*stackconfig.Result, string) {
	t.Helper()
	rel := mustRelease(t, line)
	distribution, ok := rel.Distribution("starter")
	if !ok {
		t.Fatalf("%s has no starter", line)
	}
	data := []byte(distribution.YAML)
	result, report := stackconfig.Generate(stackconfig.Input{
		Intent: readIntent(t, []byte("metadata: {name: demo}\nspec:\n  "+spec)), Base: parseBase(t, data),
		Release: rel,
	})
	var told strings.Builder
	told.WriteString(intent.Messages(report.Errors) + "\n")
	for _, warning := range report.Warnings {
		told.WriteString(warning.String() + "\n")
	}
	return result, told.String()
}

// Each case shows a difference between release lines that results from their data.
func TestLinesDiffer(t *testing.T) {
	for name, tc := range map[string]struct{ line, spec, want string }{
		"an MCP server is registered with the provider for MCP": {
			"0.6", "resources: {tools: [{name: 'mcp::tickets', mcpEndpoint: 'http://t/mcp'}]}",
			"  - toolgroup_id: mcp::tickets\n    provider_id: model-context-protocol\n",
		},
		"an MCP server is registered with the named provider": {
			"0.6", "providers: {toolRuntime: {id: mine, provider: model-context-protocol}}\n" +
				"  resources: {tools: [{name: tickets, provider: mine, mcpEndpoint: 'http://t/mcp'}]}",
			"  - toolgroup_id: tickets\n    provider_id: mine\n    mcp_endpoint:\n      uri: http://t/mcp\n",
		},
		"an MCP server with a provider of another type": {
			"0.6", "resources: {tools: [{name: tickets, provider: brave-search, mcpEndpoint: 'http://t/mcp'}]}",
			`spec.resources.tools[0].provider: "brave-search" is of type remote::brave-search, but an MCP server requires a provider of type remote::model-context-protocol; name such a provider`,
		},
		"a connector with a provider of another type": {
			"0.7", "resources: {tools: [{name: tickets, provider: brave-search, mcpEndpoint: 'http://t/mcp'}]}",
			`spec.resources.tools[0].provider: "brave-search" is of type remote::brave-search, but an MCP server requires a provider of type remote::model-context-protocol; name such a provider`,
		},
		"websearch keeps the provider of the base": {
			"0.6", "resources: {tools: [websearch]}", "  - toolgroup_id: builtin::websearch\n    provider_id: tavily-search\n",
		},
		"telemetry is disabled": {"0.3", "disabled: [telemetry]", "telemetry:\n  enabled: false\n"},
		"a type that never starts": {
			"0.3", "providers: {inference: {provider: passthrough}}",
			"remote::passthrough does not start in server release 0.3; use remote::openai with base_url",
		},
		"an endpoint that is ignored": {
			"0.3", "providers: {inference: {provider: together, endpoint: 'http://t:1/v1'}}",
			"remote::together ignores the endpoint in server release 0.3, and always calls the public service; remove the endpoint",
		},
		"a type that only later releases have": {
			"0.7", "providers: {vectorIo: {provider: neo4j, endpoint: 'neo4j://n'}}",
			`spec.providers.vectorIo.provider: "neo4j" is not a type of vectorIo provider in release 0.7; releases that have it: 1.3, 1.4, 1.5`,
		},
		"a misspelt type that only later releases have": {
			"0.7", "providers: {vectorIo: {provider: neo4}}",
			`"neo4" is not a type of vectorIo provider in release 0.7; did you mean "remote::neo4j"? releases that have this type: 1.3, 1.4, 1.5`,
		},
		"a type of another API": {
			"0.7", "providers: {safety: {provider: vllm}}",
			`"vllm" is not a type of safety provider in release 0.7; remote::vllm is a type of inference provider; move the entry to the API inference`,
		},
		"a removed type": {
			"1.0", "providers: {vectorIo: {provider: 'inline::sqlite_vec'}}", "; release 0.7 was the last release with this provider type; use vector_io/inline::sqlite-vec",
		},
		"disabling an API of later releases": {"0.3", "disabled: [skills]", `no API "skills"; release 1.1 is the first release with this API; this entry has no effect`},
		"keys of an account instead of an API key": {
			"0.3", "providers: {inference: {provider: bedrock, apiKey: {secretKeyRef: {name: b, key: t}}}}",
			"spec.providers.inference.apiKey: remote::bedrock does not accept an API key in release 0.3; remove apiKey, and set the secrets of this type in secretRefs: " +
				"aws_access_key_id, aws_secret_access_key, aws_session_token; releases in which this type accepts an API key: 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5",
		},
		"an API key of 0.4": {
			"0.4", "providers: {inference: {provider: bedrock, apiKey: {secretKeyRef: {name: b, key: t}}}}", "api_key: ${env.LLSD_BEDROCK_API_KEY}",
		},
		"a model for any provider": {"1.5", "networking: {port: 9000}", "provider_id: all"},
		"HTTPS does not set insecure": {
			"1.2", "networking: {tls: {enabled: true, secretName: t}}",
			"  host: 0.0.0.0\n  tls_certfile: /etc/llama-stack-tls/tls.crt\n  tls_keyfile: /etc/llama-stack-tls/tls.key\nvector_stores",
		},
		"plain HTTP sets insecure": {"1.2", "networking: {port: 9000}", "  insecure: true\n"},
		"removed shields":          {"1.0", "resources: {shields: [a]}", "server release 1.0 does not have the resource kind shields"},
	} {
		t.Run(name, func(t *testing.T) {
			result, told := generateFor(t, tc.line, tc.spec)
			if result != nil {
				told += string(result.Config)
			}
			if !strings.Contains(told, tc.want) {
				t.Errorf("the result does not contain %q:\n%s", tc.want, told)
			}
		})
	}
}

// If spec.disabled removes all entries of the list of APIs, the list itself is removed, even in a release in which an
// empty list serves no APIs.
func TestDisabledLeavesNoEmptyListOfAPIs(t *testing.T) {
	result, report := stackconfig.Generate(stackconfig.Input{
		Intent:  readIntent(t, []byte("metadata: {name: demo}\nspec: {disabled: [files]}")),
		Base:    parseBase(t, []byte("distro_name: d\napis: [files]\nproviders: {}\n")),
		Release: mustRelease(t, "1.5"),
	})
	if result == nil || strings.Contains(string(result.Config), "apis:") {
		t.Errorf("%v:\n%s", intent.Messages(report.Errors), result.Config)
	}
}
