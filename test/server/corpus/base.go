package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// catalogued are the distributions that users may name; the others are reached through a ConfigMap.
var catalogued = []string{"starter", "postgres-demo", "remote-vllm", "meta-reference-gpu"}

// bases: every configuration that the release ships, with the variables that it does not start without.
func (m *maker) bases() {
	for _, name := range m.rel.Distributions() {
		d, _ := m.rel.Distribution(name)
		var env []any
		for _, variable := range d.Variables {
			if variable.Required {
				env = append(env, fields{"name": variable.Name, "value": valueOf(variable.Name)})
			}
		}
		spec := func(more fields) fields {
			spec := fields{"networking": fields{"port": 9000}}
			if len(env) > 0 {
				spec["workload"] = fields{"overrides": fields{"env": env}}
			}
			maps.Copy(spec, more)
			return spec
		}
		base := string(shipped(m.rel, name))
		m.addOwn("base/"+name, base, spec(nil))
		m.addOwn("base/"+name+"/model", base, spec(fields{"providers": vllm(), "resources": fields{"models": []any{"a"}}}))
		m.addOwn("base/"+name+"/storage", base, spec(fields{"storage": fields{"kv": fields{}, "sql": fields{}}}))
		if slices.Contains(catalogued, name) {
			m.addOver(name, "distribution/"+name, spec(fields{"storage": fields{"kv": fields{}}}))
		}
	}
}

// valueOf is a value for a variable that a shipped configuration reads, by what its name says it is.
func valueOf(name string) string {
	switch {
	case name == "INFERENCE_MODEL":
		return "meta-llama/Llama-3.2-1B" // one that meta-reference knows
	case strings.HasSuffix(name, "_PORT"):
		return "5432"
	case strings.Contains(name, "URL") || strings.Contains(name, "ENDPOINT") || strings.Contains(name, "BASE"):
		return "http://" + strings.ToLower(strings.ReplaceAll(name, "_", "-")) + ".example:8000/v1"
	case strings.HasSuffix(name, "DIMENSION"):
		return "384"
	case strings.HasSuffix(name, "_DIR") || strings.HasSuffix(name, "_PATH"):
		return "/.llama/" + strings.ToLower(name)
	default:
		return "a-" + strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	}
}

// conditions: every variable that brings a part of the starter into being, set; its provider named by a model.
func (m *maker) conditions() {
	d, _ := m.rel.Distribution(starter)
	for _, variable := range d.Variables {
		if len(variable.Enables) == 0 {
			continue
		}
		env := []any{fields{"name": variable.Name, "value": valueOf(variable.Name)}}
		m.add("condition/"+variable.Name, fields{
			"storage": fields{"kv": fields{}}, "workload": fields{"overrides": fields{"env": env}},
		})
		for _, p := range providersOf(shipped(m.rel, starter)) {
			if p.api == "inference" && slices.Contains(variable.Enables, p.id) {
				m.add("condition/"+variable.Name+"/model", fields{
					"resources": fields{"models": []any{fields{"name": "a", "provider": p.id}}},
					"workload":  fields{"overrides": fields{"env": env}},
				})
			}
		}
	}
}

// baseProvider is a provider of a shipped configuration.
type baseProvider struct{ api, id, providerType string }

// providersOf lists the providers of a configuration in its order; a conditional id is what it is when the condition
// holds.
func providersOf(config []byte) []baseProvider {
	var document struct {
		Providers yaml.Node `yaml:"providers"`
	}
	if err := yaml.Unmarshal(config, &document); err != nil {
		panic(fmt.Sprintf("corpus: %v", err)) // release data has a test
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
			id := entry.ID
			if _, conditional, ok := strings.Cut(id, ":+"); ok {
				id = strings.TrimSuffix(conditional, "}")
			}
			found = append(found, baseProvider{api: document.Providers.Content[i].Value, id: id, providerType: entry.Type})
		}
	}
	return found
}
