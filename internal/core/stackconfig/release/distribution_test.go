package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

func TestStarterVariables(t *testing.T) {
	starter, ok := line07(t).Distribution("starter")
	if !ok {
		t.Fatal("no starter")
	}
	i := slices.IndexFunc(starter.Variables, func(v release.Variable) bool { return v.Name == "VLLM_URL" })
	if i < 0 {
		t.Fatal("no VLLM_URL")
	}
	vllm := release.Variable{Name: "VLLM_URL", Defaults: []string{""}, Enables: []string{"vllm"}}
	if diff := cmp.Diff(vllm, starter.Variables[i]); diff != "" {
		t.Errorf("VLLM_URL (-want +got):\n%s", diff)
	}
}

// TestShippedConfigsPassOurChecks checks every shipped config against the classes of its own release. The server reads
// these configs, so they must have no errors.
func TestShippedConfigsPassOurChecks(t *testing.T) {
	for _, line := range release.Lines() {
		r := lineOf(t, line)
		for _, name := range r.Distributions() {
			t.Run(line+"/"+name, func(t *testing.T) { checkShipped(t, r, name) })
		}
	}
}

func checkShipped(t *testing.T, r *release.Release, name string) {
	t.Helper()
	var config yaml.Node
	if err := yaml.Unmarshal(shipped(t, r, name), &config); err != nil {
		t.Fatal(err)
	}
	for _, p := range r.TopLevel.Check(config.Content[0]) {
		if p.Fatal {
			t.Errorf("%s: %s", p.Path, p.Message())
		}
	}
	var entries struct {
		Providers map[string][]struct {
			ID     string    `yaml:"provider_id"`
			Type   string    `yaml:"provider_type"`
			Config yaml.Node `yaml:"config"`
		} `yaml:"providers"`
	}
	if err := config.Decode(&entries); err != nil {
		t.Fatal(err)
	}
	for api, providers := range entries.Providers {
		for _, entry := range providers {
			kind, ok := r.Provider(api, entry.Type)
			if !ok {
				t.Errorf("%s: the release has no type %s", api, entry.Type)
				continue
			}
			node := &entry.Config
			if node.Kind == 0 {
				node = nil
			}
			for _, p := range kind.Config.Check(node) {
				if p.Kind != schema.DeprecatedKey && !knownSlip(name, entry.Type, p) {
					t.Errorf("%s %s: %s: %s", api, entry.ID, p.Path, p.Message())
				}
			}
		}
	}
}

// knownSlip reports whether a problem is a known mistake in the server's own configs. One of these mistakes prevents
// the server from starting with the config. The others are harmless.
func knownSlip(distribution, kind string, p schema.Problem) bool {
	if distribution == "nvidia/run-with-safety" && kind == "remote::nvidia" && p.Kind == schema.MissingChoice {
		return true // up to 0.3, the provider that is meant for safety requires a key that it does not read
	}
	// The two dell configs used the old key for the endpoint from 0.4 to 0.6.
	if strings.HasPrefix(distribution, "dell") && kind == "remote::tgi" && p.Path == "url" && p.Kind == schema.UnknownKey {
		return true
	}
	// The settings of the safety provider are in an inference provider, where they are ignored.
	return distribution == "nvidia/run-with-safety" && kind == "remote::nvidia" && p.Kind == schema.UnknownKey
}

func shipped(t testing.TB, r *release.Release, name string) []byte {
	t.Helper()
	d, ok := r.Distribution(name)
	if !ok {
		t.Fatalf("no distribution %s", name)
	}
	return []byte(d.YAML)
}
