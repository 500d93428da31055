package corpus

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// cataloged lists the distributions that users can select by name. Other distributions need a ConfigMap.
var cataloged = []string{"starter", "postgres-demo", "remote-vllm", "meta-reference-gpu"}

// bases adds cases for every configuration that the release contains. The first case for a configuration sets only the
// variables without which the server does not start with the configuration. The other cases also set the variables with
// an empty default, except for the case unset, which sets no variables.
func (m *maker) bases() {
	for _, name := range m.rel.Distributions() {
		d, _ := m.rel.Distribution(name)
		base := string(shipped(m.rel, name))
		m.addOwn("base/"+name, base, withVariables(fields{}, needed(d)))
		all := append(needed(d), empty(d)...)
		m.addOwn("base/"+name+"/set", base, withVariables(fields{"networking": fields{"port": 9000}}, all))
		m.addOwn("base/"+name+"/model", base,
			withVariables(fields{"providers": vllm(), "resources": fields{"models": []any{"a"}}}, all))
		m.addOwn("base/"+name+"/storage", base, withVariables(fields{"storage": fields{"kv": fields{}, "sql": fields{}}},
			all))
		if slices.Contains(cataloged, name) {
			m.addOver(name, "distribution/"+name, withVariables(fields{"storage": fields{"kv": fields{}}}, all))
			m.addOver(name, "distribution/"+name+"/unset", fields{"storage": fields{"kv": fields{}}})
		}
	}
}

// needed returns the variables without which the server does not start with a configuration.
func needed(d *release.Distribution) []string {
	var names []string
	for _, variable := range d.Variables {
		if variable.Required {
			names = append(names, variable.Name)
		}
	}
	return names
}

// empty returns the variables that are empty by default and do not enable a provider. It omits the variables that
// exclude a key for Gemini.
func empty(d *release.Distribution) []string {
	var names []string
	for _, variable := range d.Variables {
		if !variable.Required && slices.Contains(variable.Defaults, "") && len(variable.Enables) == 0 &&
			!strings.HasPrefix(variable.Name, "GEMINI_ACCESS") && !strings.HasPrefix(variable.Name, "GEMINI_AI") {
			names = append(names, variable.Name)
		}
	}
	return names
}

// withVariables sets variables on the server's container.
func withVariables(spec fields, names []string) fields {
	if len(names) == 0 {
		return spec
	}
	env := make([]any, 0, len(names))
	for _, name := range names {
		env = append(env, fields{"name": name, "value": valueOf(name)})
	}
	spec["workload"] = fields{"overrides": fields{"env": env}}
	return spec
}

// valueOf returns a value for a variable that a shipped configuration reads, according to the variable's name.
func valueOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_MODEL"):
		return "meta-llama/Llama-Guard-3-1B" // a model that meta-reference supports
	case strings.HasSuffix(name, "_PORT"):
		return "5432"
	case strings.Contains(name, "URL") || strings.Contains(name, "ENDPOINT") || strings.Contains(name, "BASE"):
		return "http://" + strings.ToLower(strings.ReplaceAll(name, "_", "-")) + ".example:8000"
	case strings.HasSuffix(name, "DIMENSION"):
		return "384"
	case strings.HasSuffix(name, "_DIR") || strings.HasSuffix(name, "_PATH"):
		return "/.llama/" + strings.ToLower(name)
	default:
		return "a-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
}

// conditions adds cases for every variable that enables a part of the starter. One case sets only this variable, and a
// second case also sets the variables that have an empty default. If the variable enables a provider for inference, a
// further case has a model of this provider.
func (m *maker) conditions() {
	d, _ := m.rel.Distribution(starter)
	for _, variable := range d.Variables {
		if len(variable.Enables) == 0 {
			continue
		}
		at := "condition/" + variable.Name
		all := append([]string{variable.Name}, empty(d)...)
		m.add(at, withVariables(fields{"storage": fields{"kv": fields{}}}, all[:1]))
		m.add(at+"/set", withVariables(fields{"storage": fields{"kv": fields{}}}, all))
		for _, p := range providersOf(shipped(m.rel, starter)) {
			if p.api == "inference" && slices.Contains(variable.Enables, p.id) {
				m.add(at+"/model",
					withVariables(fields{"resources": fields{"models": []any{fields{"name": "a", "provider": p.id}}}}, all))
			}
		}
	}
}

// baseProvider describes a provider in the configuration of a distribution.
type baseProvider struct {
	api, id, providerType string
	// condition is the variable that enables the provider.
	condition string
}

// providersOf returns the providers in a configuration, in the order of the configuration. The ID of a conditional
// provider is the ID that applies when its condition is met.
func providersOf(config []byte) []baseProvider {
	var document struct {
		Providers yaml.Node `yaml:"providers"`
	}
	if err := yaml.Unmarshal(config, &document); err != nil {
		panic(fmt.Sprintf("corpus: %v", err)) // a test in package release checks the data
	}
	var found []baseProvider
	for i := 0; i+1 < len(document.Providers.Content); i += 2 {
		var entries []struct {
			ID   string `yaml:"provider_id"`
			Type string `yaml:"provider_type"`
		}
		if err := document.Providers.Content[i+1].Decode(&entries); err != nil {
			panic(fmt.Sprintf("corpus: %v", err))
		}
		for _, entry := range entries {
			p := baseProvider{api: document.Providers.Content[i].Value, id: entry.ID, providerType: entry.Type}
			if variable, conditional, ok := strings.Cut(entry.ID, ":+"); ok {
				p.id, p.condition = strings.TrimSuffix(conditional, "}"), strings.TrimPrefix(variable, "${env.")
			}
			found = append(found, p)
		}
	}
	return found
}
