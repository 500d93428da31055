package corpus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Wide is a random stack with references between its parts, for example a default model or the name of a backend. Each
// reference is right or wrong by chance.
type Wide struct {
	// Case is the stack.
	Case Case
	// Without is the same stack without the references, and change adds them to its configuration. They show the server's
	// reaction to references that the operator rejects.
	Without Case
	change  func(config fields)
	// Aliases reports whether only the first start in a process shows the server's reaction to the names of the models.
	// Later starts in the same process do not always reject a listed name that belongs to another model.
	Aliases bool
}

// Forced returns the configuration that the server would read if the operator did not reject the references. It returns
// an error message if the operator also rejects the stack without them.
func (w *Wide) Forced() (config []byte, env map[string]string, refused string, err error) {
	without, err := w.Without.Run()
	if err != nil || without.Refused != "" {
		return nil, nil, without.refusal(), err
	}
	config, err = changed(without.Config, w.change)
	return config, without.Env, "", err
}

func (o *Outcome) refusal() string {
	if o == nil {
		return ""
	}
	return o.Refused
}

// WideStacks returns n random stacks. For the same line, seed and n, it returns the same stacks.
func WideStacks(rel *release.Release, seed uint64, n int) []Wide {
	m := &maker{rel: rel}
	all := make([]Wide, 0, n)
	for i := range n {
		r := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // random numbers for a test, which must be reproducible
		g := &wide{generator: generator{values: values{rand: r}, rel: rel, ids: map[string][]string{}}, m: m}
		all = append(all, g.stack(fmt.Sprintf("wide/%d/%04d", seed, i)))
	}
	return all
}

// wide creates one stack.
type wide struct {
	generator
	m *maker
	// models and added are the references for the spec, and changes add them to the configuration of the stack without
	// them.
	models  []any
	added   fields
	changes []func(config fields)
	owns    map[string]bool
	aliases bool
	// backend is the backend of the store of the vector_io provider, or empty.
	backend string
}

// pool are the names of the models. It is small, so that aliases are often the names of other models.
var pool = []string{"m1", "m2", "org/m3", "vllm-0/m4"}

func (g *wide) stack(name string) Wide {
	g.added, g.owns = fields{}, map[string]bool{}
	spec := func() fields {
		inference := []any{}
		for _, id := range g.ids["inference"] {
			inference = append(inference, fields{"id": id, "provider": "vllm", "endpoint": "http://vllm.example:8000"})
		}
		return fields{
			"providers": fields{"inference": inference, "vectorIo": fields{"id": "faiss", "provider": "faiss"}},
			"storage":   fields{"kv": fields{}, "sql": fields{}},
		}
	}
	for i := range 1 + g.rand.IntN(3) {
		g.ids["inference"] = append(g.ids["inference"], fmt.Sprintf("vllm-%d", i))
	}
	without := spec()
	g.others(without)
	if _, known := g.rel.Resource("models"); known {
		for range g.rand.IntN(5) {
			g.register()
		}
	}
	for _, reference := range g.rel.References {
		if reference.ModelType != "" && g.chance(25) {
			g.names(reference)
		}
	}
	g.backends(without)
	with := maps.Clone(without)
	if g.backend != "" {
		with["providers"] = merged(without["providers"], fields{"vectorIo": fields{
			"id": "faiss", "provider": "faiss",
			"settings": fields{"persistence": fields{"namespace": "vector_io::faiss", "backend": g.backend}},
		}})
	}
	if len(g.models) > 0 {
		with["resources"] = merged(without["resources"], fields{"models": g.models})
	}
	if len(g.added) > 0 {
		with["settings"] = merged(without["settings"], g.added)
	}
	base := g.m.nothing() + "providers: {inference: [{provider_id: '${env.NOWHERE_URL:+off}', provider_type: 'remote::vllm', " +
		"config: {" + g.endpointKey() + ": 'http://vllm.example:8000/v1'}}]}\n"
	base = strings.Replace(base, "providers: {}\n", "", 1)
	for _, each := range []fields{without, with} {
		each["baseConfig"] = fields{"configMapName": baseConfig, "key": "config.yaml"}
	}
	changes := g.changes
	return Wide{
		Case:    newCase(g.rel, name, starter, []byte(base), false, with),
		Without: newCase(g.rel, name, starter, []byte(base), false, without),
		change: func(config fields) {
			for _, change := range changes {
				change(config)
			}
		},
		Aliases: g.aliases,
	}
}

func (g *wide) endpointKey() string {
	kind, _ := g.rel.Provider("inference", "remote::vllm")
	return kind.EndpointKey
}

// others adds parts that refer to nothing, so that the operator accepts them: settings, tools, rules, a quota and
// disabled APIs.
func (g *wide) others(spec fields) {
	settings := fields{}
	if g.chance(40) {
		settings = g.settings()
	}
	server, _ := settings["server"].(fields)
	if server == nil {
		server = fields{}
	}
	if _, known := g.rel.Server.Key("quota"); known && g.chance(25) {
		server["quota"] = fields{
			"kvstore": fields{"namespace": "quota", "backend": "kv_default"}, "anonymous_max_requests": 100,
		}
	}
	if !g.rel.Runtime.HealthNeedsToken && g.chance(25) {
		server["auth"] = fields{
			"provider_config": fields{"type": "custom", "endpoint": "http://auth.example/check"},
			"access_policy": []any{
				fields{"forbid": fields{"actions": []any{"delete"}, "resource": "model::*"}},
				fields{"permit": fields{"actions": []any{"create", "read", "update", "delete"}}},
			},
		}
	}
	if len(server) > 0 {
		settings["server"] = server
	}
	if len(settings) > 0 {
		spec["settings"] = settings
	}
	if g.chance(30) {
		spec["disabled"] = []any{"vectorIo"}
		if g.chance(50) {
			spec["disabled"] = []any{"safety"}
		}
	}
	if g.chance(30) {
		spec["providers"].(fields)["toolRuntime"] = fields{"id": "mcp", "provider": "model-context-protocol"}
		spec["resources"] = fields{"tools": []any{fields{"name": "mcp::a", "mcpEndpoint": "http://mcp.example:8080/mcp"}}}
	}
}

// register adds a model to the references.
func (g *wide) register() {
	id, name := oneOf(&g.values, g.ids["inference"]), oneOf(&g.values, pool)
	if g.owns[id+"/"+name] {
		return // package resources reports two entries with the same name
	}
	g.owns[id+"/"+name] = true
	known, _ := g.rel.Resource("models")
	modelType := oneOf(&g.values, modelTypes(g.rel))
	model := fields{"name": name, "provider": id, "modelType": modelType}
	entry := fields{"model_id": name, "provider_id": id, "model_type": modelType}
	if g.chance(50) {
		own := oneOf(&g.values, pool)
		g.aliases = known.ListedAgain
		model["providerModelId"], entry["provider_model_id"] = own, own
	}
	if modelType == "embedding" {
		model["metadata"], entry["metadata"] = fields{"embedding_dimension": 8}, fields{"embedding_dimension": 8}
	}
	g.models = append(g.models, model)
	g.changes = append(g.changes, func(config fields) { registerIn(config, known.Section, "models", entry) })
}

// names adds a setting that names a model.
func (g *wide) names(reference release.Reference) {
	id := oneOf(&g.values, append([]string{"off"}, g.ids["inference"]...))
	name := oneOf(&g.values, pool)
	if len(g.models) > 0 && g.chance(85) {
		model := oneOf(&g.values, g.models).(fields)
		id, name = model["provider"].(string), model["name"].(string)
		if own, ok := model["providerModelId"].(string); ok && g.chance(50) {
			name = own
		}
	}
	keys := strings.Split(reference.Path, ".")
	value := fields{reference.ProviderKey: id, reference.ResourceKey: name}
	set := func(into fields) { at(into, keys[:len(keys)-1]...)[keys[len(keys)-1]] = value }
	set(g.added)
	g.changes = append(g.changes, set)
}

// backends adds a provider whose store names a backend.
func (g *wide) backends(spec fields) {
	disabled, _ := spec["disabled"].([]any)
	if g.rel.Storage.Inline || len(disabled) > 0 || g.chance(50) {
		return
	}
	g.backend = "kv_default"
	if g.chance(20) {
		g.backend = "sql_default"
	}
	backend := g.backend
	g.changes = append(g.changes, func(config fields) {
		at(configOf(config, "vector_io"), "persistence")["backend"] = backend
	})
}

// merged returns two mappings as one. The values of the second take precedence.
func merged(first any, second fields) fields {
	all := fields{}
	if given, ok := first.(fields); ok {
		maps.Copy(all, given)
	}
	for key, value := range second {
		inner, ok := value.(fields)
		if before, had := all[key].(fields); ok && had {
			all[key] = merged(before, inner)
		} else {
			all[key] = value
		}
	}
	return all
}
