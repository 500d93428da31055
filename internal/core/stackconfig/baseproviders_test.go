package stackconfig_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

const vllmProvider = "    inference: {provider: vllm, endpoint: 'http://vllm:8000'}\n"

// alone is a stack without inference. The test uses it only with the starter distribution, because some other
// distributions have inference providers that need a variable.
const alone = "batches-alone"

const requiredHead = "metadata: {name: demo}\n" +
	"spec:\n  distribution: {name: starter, baseProviders: Required}\n  providers:\n"

// requiredStacks are stacks that keep only the base providers that their own providers need. The test skips a stack in
// a release that does not have the API in the field `api`.
var requiredStacks = []struct{ name, api, spec string }{
	{"chat", "inference", vllmProvider},
	{"chat-and-model", "inference", vllmProvider + "  resources: {models: [llama]}\n"},
	{"vectors", "vector_io", vllmProvider + "    vectorIo: {provider: faiss}\n"},
	{"files", "files", "    files: {provider: localfs}\n"},
	{"agents", "agents", vllmProvider + "    agents: {provider: meta-reference}\n"},
	{"responses", "responses", vllmProvider + "    responses: {provider: builtin}\n"},
	{"batches", "batches", vllmProvider + "    batches: {provider: reference}\n"},
	{alone, "batches", "    batches: {provider: reference}\n"},
	{"safety", "safety", vllmProvider + "    safety: {provider: llama-guard}\n  resources: {shields: [guard]}\n"},
	{"mcp", "tool_runtime", vllmProvider + "    toolRuntime: {provider: model-context-protocol}\n" +
		"  resources: {tools: [{name: tickets, mcpEndpoint: 'http://mcp:3000/sse'}]}\n"},
	{"postgres", "inference", vllmProvider + "  storage:\n" +
		"    sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}\n"},
}

// TestRequiredBaseProviders generates the configuration of every stack with every distribution of every release. The
// checks find no errors. The golden file shows the providers and APIs that remain with the starter distribution: those
// with the first release line, and the changes with each other line.
func TestRequiredBaseProviders(t *testing.T) {
	var got, before []byte
	for _, line := range release.Lines() {
		rel, left := mustRelease(t, line), map[string]any{}
		for _, name := range rel.Distributions() {
			shipped, _ := rel.Distribution(name)
			base := []byte(shipped.YAML)
			for _, stack := range requiredStacks {
				if api, ok := rel.API(stack.api); !ok || !api.Providable || stack.name == alone && name != starterCases {
					continue
				}
				at := line + "/" + name + "/" + stack.name
				wishes := readIntent(t, []byte(requiredHead+stack.spec))
				in := stackconfig.Input{Intent: wishes, Base: parseBase(t, base), Release: rel}
				result, report := stackconfig.Generate(in)
				if result == nil && needsVariables(in) {
					continue
				}
				if result == nil {
					t.Errorf("%s:\n%s", at, intent.Messages(report.Errors))
					continue
				}
				checkRequired(t, at, wishes, result, report)
				if name == starterCases {
					left[stack.name] = summaryOf(t, result, report)
				}
			}
		}
		text := marshal(t, left)
		got = fmt.Appendf(got, "Release %s\n%s", line, golden.Diff(before, text))
		before = text
	}
	const file = "testdata/required-base-providers.diff"
	if golden.Updating() {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(golden.Read(t, file)), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func mustRelease(t *testing.T, line string) *release.Release {
	t.Helper()
	match, err := release.Lookup(line)
	if err != nil {
		t.Fatal(err)
	}
	return match.Release
}

// needsVariables reports whether the base needs variables that the stack does not set, so that the generation also
// fails with all of the base's providers.
func needsVariables(in stackconfig.Input) bool {
	all := *in.Intent
	all.Distribution.RequiredOnly = false
	in.Intent = &all
	result, _ := stackconfig.Generate(in)
	return result == nil
}

type generated struct {
	APIs      []string `yaml:"apis"`
	Providers map[string][]struct {
		ID string `yaml:"provider_id"`
	} `yaml:"providers"`
}

func read(t *testing.T, result *stackconfig.Result) generated {
	t.Helper()
	var config generated
	if err := yaml.Unmarshal(result.Config, &config); err != nil {
		t.Fatal(err)
	}
	return config
}

// checkRequired checks that each provider of a configuration is declared by the spec or named by a warning, and that
// the server serves exactly the APIs that have providers.
func checkRequired(
	t *testing.T, at string, wishes *intent.Intent, result *stackconfig.Result, report *stackconfig.Report,
) {
	t.Helper()
	config, kept := read(t, result), 0
	for api, providers := range config.Providers {
		if !slices.Contains(config.APIs, api) {
			t.Errorf("%s: the server does not serve %s", at, api)
		}
		for _, p := range providers {
			if !wishes.Declares(api, p.ID) {
				kept++
			}
		}
	}
	for _, api := range config.APIs {
		if _, ok := config.Providers[api]; !ok {
			t.Errorf("%s: the server serves %s, which has no providers", at, api)
		}
	}
	warned := 0
	for _, warning := range report.Warnings {
		if warning.Path == intent.BaseProvidersPath.String() && warning.ConfigPath == "" {
			warned++
		}
	}
	if kept > warned+1 || kept < warned { // the `add-missing` step warns about a provider that it adds
		t.Errorf("%s: %d providers of the base, %d warnings", at, kept, warned)
	}
}

func summaryOf(t *testing.T, result *stackconfig.Result, report *stackconfig.Report) map[string]any {
	t.Helper()
	config := read(t, result)
	var providers, warnings []string
	for api, list := range config.Providers {
		for _, p := range list {
			providers = append(providers, api+"/"+p.ID)
		}
	}
	slices.Sort(providers)
	for _, warning := range report.Warnings {
		warnings = append(warnings, warning.String())
	}
	return map[string]any{"apis": config.APIs, "providers": providers, "warnings": warnings}
}
