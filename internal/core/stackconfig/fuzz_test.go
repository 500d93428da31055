package stackconfig_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// FuzzGenerate generates a configuration from any spec and any base. It checks that Generate does not panic, that the
// result parses, that no provider is lost, and that a second run produces the same bytes. Each variable of the operator
// in the configuration must be in the environment and get its value from a Secret.
func FuzzGenerate(f *testing.F) {
	base, err := sigsyaml.YAMLToJSON([]byte("providers: {inference: [{provider_id: '${env.X:+x}', provider_type: 'remote::vllm'}]}"))
	if err != nil {
		f.Fatal(err)
	}
	for _, spec := range []string{
		`{"providers":{"inference":[{"id":"a","provider":"vllm","endpoint":"http://a","apiKey":{"secretKeyRef":{"name":"s","key":"k"}},"settings":{"x":"yes"}}]},"resources":{"models":["m",{"name":"n","provider":"a"}]}}`,
		`{"providers":{"vectorIo":{"provider":"pgvector","host":{"secretKeyRef":{"name":"s","key":"k"}}}},"disabled":["inference","safety/llama-guard"]}`,
		`{"offline":true,"providers":{"inference":[{"id":"a","provider":"openai"},{"id":"b","provider":"sentence-transformers"}]},"resources":{"models":[{"name":"m","provider":"b"}],"tools":[{"name":"t","mcpEndpoint":"https://mcp.example.com"}]}}`,
		`{"storage":{"kv":{"type":"redis","endpoint":"c","password":{"secretKeyRef":{"name":"s","key":"k"}}},"sql":{"type":"postgres","connectionString":{"secretKeyRef":{"name":"s","key":"k"}}}}}`,
		`{"resources":{"tools":["websearch",{"name":"t","mcpEndpoint":"http://m"}],"shields":[{"name":"s","params":{"a":1}}]},"workload":{"workers":2}}`,
		`{"externalProviders":{"inference":[{"providerId":"x","image":"i","config":{"a":"${env.A:=b}"},"secretRefs":{"k":{"secretKeyRef":{"name":"s","key":"k"}}}}],"eval":[{"providerId":"e","image":"i"}]},"disabled":["eval"]}`,
		`{"settings":{"server":{"auth":{"access_policy":[{"a":"${env.A:=b}"}]},"quota":5},"safety":{"x":"${env.LLSD_A}"}},"removeSettings":["server.auth","x_of_our_own.said"]}`,
	} {
		f.Add([]byte(spec), base)
		f.Add([]byte(spec), []byte(nil))
	}
	const empty = `{"networking":{"port":9000}}`
	f.Add([]byte(empty), []byte("a: &a {b: 1}\nc: {<<: *a}\n"))
	f.Add([]byte(empty), []byte("a:\n\tb: 1"))
	shared, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec, data []byte) {
		if len(data) == 0 {
			data = shared
		}
		base, err := baseconfig.Parse(data)
		if err != nil {
			return
		}
		var obj v1alpha2.LlamaStackDistribution
		if sigsyaml.Unmarshal(spec, &obj.Spec) != nil {
			return
		}
		obj.Name = "demo"
		in, _ := intent.FromObject(&obj)
		input := stackconfig.Input{Intent: in, Base: base, Release: release.Default()}
		result, report := stackconfig.Generate(input)
		if result == nil {
			if len(report.Errors) == 0 {
				t.Error("no result and no error")
			}
			return
		}
		holds(t, data, in, result, report)
		if again, _ := stackconfig.Generate(input); !bytes.Equal(result.Config, again.Config) {
			t.Error("another result for the same input")
		}
	})
}

var ownVariable = regexp.MustCompile(`\$\{env\.(` + names.EnvPrefix + `[A-Z0-9_]*)\}`)

// holds checks the properties that every result must have.
func holds(t *testing.T, base []byte, in *intent.Intent, result *stackconfig.Result, report *stackconfig.Report) {
	t.Helper()
	var config yaml.Node
	if err := yaml.Unmarshal(result.Config, &config); err != nil {
		t.Fatalf("the result does not parse: %v\n%s", err, result.Config)
	}
	given := make(map[string]stackconfig.EnvVar)
	for _, variable := range result.Env {
		given[variable.Name] = variable
		if variable.Value != "" || variable.SecretName == "" || variable.SecretKey == "" {
			t.Errorf("%+v does not come from a Secret", variable)
		}
	}
	for _, match := range ownVariable.FindAllSubmatch(result.Config, -1) {
		if _, ok := given[string(match[1])]; !ok && !bytes.Contains(base, match[1]) && !inSettings(in, string(match[0])) {
			t.Errorf("nothing sets %s", match[1])
		}
	}
	have := providersOf(result.Config)
	for _, p := range in.Providers {
		if !isDisabled(in, p.API, p.ID) && !have[p.API+"/"+p.ID] && !told(report, p.Path.String()+": provider ") {
			t.Errorf("the user's provider %s/%s is missing in the result", p.API, p.ID)
		}
	}
	installed := map[string]bool{}
	for _, p := range result.External {
		installed[p.API+"/"+p.ID] = true
	}
	for _, p := range in.External {
		if wanted := !isDisabled(in, p.API, p.ID); wanted != installed[p.API+"/"+p.ID] || wanted && !have[p.API+"/"+p.ID] {
			t.Errorf("the external provider %s/%s must be installed: %t, installed providers: %v", p.API, p.ID, wanted, result.External)
		}
	}
	for written := range providersOf(base) {
		api, id, _ := strings.Cut(written, "/")
		if !isDisabled(in, api, id) && !have[written] && !replaced(in, api, id) &&
			!told(report, fmt.Sprintf("%s/%s (", cmp.Or(intent.APIField(api), release.CamelCase(api)), resolved(id))) {
			t.Errorf("the base's provider %s is missing in the result", written)
		}
	}
}

// told reports whether a warning contains a text, such as the name of a provider that is disabled together with an API.
func told(report *stackconfig.Report, text string) bool {
	return slices.ContainsFunc(report.Warnings,
		func(f stackconfig.Finding) bool { return strings.Contains(f.String(), text) })
}

// providersOf returns the set of all providers in the form api/id, with the IDs as they are written.
func providersOf(config []byte) map[string]bool {
	var parsed struct {
		Providers map[string][]struct {
			ID any `yaml:"provider_id"`
		} `yaml:"providers"`
	}
	found := make(map[string]bool)
	if yaml.Unmarshal(config, &parsed) != nil {
		return found
	}
	for api, list := range parsed.Providers {
		for _, p := range list {
			if id, ok := p.ID.(string); ok {
				found[api+"/"+id] = true
			}
		}
	}
	return found
}

var condition = regexp.MustCompile(`\$\{env\.[^}:]*:[+=]([^}]*)\}`)

func resolved(id string) string { return condition.ReplaceAllString(id, "$1") }

func isDisabled(in *intent.Intent, api, id string) bool {
	for _, d := range in.Disabled {
		name := intent.API(d.API)
		if name == "" {
			name = release.SnakeCase(d.API)
		}
		if name == api && (d.Provider == "" || d.Provider == resolved(id)) {
			return true
		}
	}
	return false
}

func replaced(in *intent.Intent, api, id string) bool {
	if in.ExternalWith(api, resolved(id)) != nil {
		return true
	}
	known, _ := release.Default().API(api)
	for _, p := range in.Providers {
		if p.API == api && (p.ID == resolved(id) || known.RoutingTable == "") {
			return true
		}
	}
	return false
}

// inSettings reports whether the user wrote the reference in settings, which become part of the configuration
// unchanged.
func inSettings(in *intent.Intent, reference string) bool {
	data, err := sigsyaml.Marshal(in)
	return err == nil && bytes.Contains(data, []byte(reference))
}
