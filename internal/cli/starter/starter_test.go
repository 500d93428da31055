package starter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/starter"
)

// Defaults replace answers that are not set.
func TestDefaults(t *testing.T) {
	plan, errs := starter.Check(starter.Answers{Provider: "ollama", Endpoint: "http://ollama:11434"})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	want := starter.Answers{
		Name: "my-stack", Distribution: "starter", Provider: "ollama", Endpoint: "http://ollama:11434", Store: "sqlite",
		VolumeSize: "10Gi",
	}
	if diff := cmp.Diff(want, plan.Answers); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if len(plan.Commands()) > 0 || strings.Contains(string(plan.Manifest()), "Secret") {
		t.Errorf("the manifest contains a Secret that no answer requires:\n%s", plan.Manifest())
	}
}

// FlagOf returns the flag with the longest path that contains the field.
func TestFlagOf(t *testing.T) {
	for path, want := range map[string]string{
		"metadata.name":                                 "NAME",
		"spec.distribution.version":                     "--release",
		"spec.distribution.name":                        "--distribution",
		"spec.providers.inference.endpoint":             "--endpoint",
		"spec.providers.inference.provider":             "--provider",
		"spec.providers.inference.settings.max":         "--setting",
		"spec.providers.inference.apiKey.secretKeyRef":  "--secret",
		"spec.resources.models[0]":                      "--model",
		"spec.storage.kv.endpoint":                      "--store-endpoint",
		"spec.storage.sql":                              "--store",
		"spec.workload.storage.size":                    "--volume-size",
		"spec.networking.expose.hostname":               "--expose",
		"spec.offline":                                  "",
		"is not YAML: spec.storage is not a field path": "",
	} {
		if got, ok := starter.FlagOf(path); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}

// Providers returns the model providers that a server of the release can start, with their shortest unique names.
func TestProviders(t *testing.T) {
	for line, tc := range map[string]struct{ has, lacks []string }{
		"0.3": {[]string{"vllm", "remote::hf::endpoint", "meta-reference"}, []string{"tgi", "remote::vllm", "mistral"}},
		"1.5": {[]string{"vllm", "mistral"}, []string{"tgi", "meta-reference"}},
		"9.9": {[]string{"vllm"}, nil},
	} {
		got := starter.Providers(line)
		for _, name := range tc.has {
			if !slices.Contains(got, name) {
				t.Errorf("%s: no %q in %q", line, name, got)
			}
		}
		for _, name := range tc.lacks {
			if slices.Contains(got, name) {
				t.Errorf("%s: %q in %q", line, name, got)
			}
		}
	}
}

// The manifest quotes strings that YAML would read as values of a different type.
func TestScalars(t *testing.T) {
	plan, errs := starter.Check(starter.Answers{
		Provider: "vertexai", Settings: []string{"project=123", "location=on # here", "refresh_models=true"},
		Models: []string{"1e5", "a: b", "null"},
	})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	text := string(plan.Manifest())
	for _, want := range []string{
		`project: "123"`, `location: 'on # here'`, "refresh_models: true", `- "1e5"`, `- 'a: b'`,
		`- "null"`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
