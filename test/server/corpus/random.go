package corpus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Random returns n cases with random objects. The objects use most fields of the API that affect the configuration.
// Most objects are valid. For the same line, seed and n, Random returns the same cases. For a larger n, the result
// begins with the same cases.
func Random(rel *release.Release, seed uint64, n int) []Case {
	m := &maker{rel: rel}
	for i := range n {
		r := rand.New(rand.NewPCG(seed, uint64(i))) //nolint:gosec // random numbers for a test, which must be reproducible
		g := &generator{values: values{rand: r}, rel: rel, ids: map[string][]string{}}
		g.base = baseProviders(rel, r)
		name := fmt.Sprintf("random/%d/%04d", seed, i)
		spec := g.spec()
		if g.base == nil {
			m.addOwn(name, m.nothing(), spec)
		} else {
			m.add(name, spec)
		}
	}
	return m.cases
}

// baseProviders returns the providers of a case's base: the providers of the starter, or none if the case has its own
// base.
func baseProviders(rel *release.Release, r *rand.Rand) []baseProvider {
	if r.IntN(2) == 0 {
		return nil
	}
	return providersOf(shipped(rel, starter))
}

// generator creates one random spec that a user could write.
type generator struct {
	values
	rel  *release.Release
	base []baseProvider
	// ids are the IDs of the providers written so far, grouped by API.
	ids map[string][]string
}

func (g *generator) spec() fields {
	spec := fields{}
	if g.base == nil || g.chance(80) {
		spec["providers"] = g.providers()
	}
	if resources := g.resources(); len(resources) > 0 && g.chance(70) {
		spec["resources"] = resources
	}
	if g.base == nil || g.chance(50) {
		spec["storage"] = g.storage()
	}
	if g.chance(30) {
		spec["disabled"] = g.disabled()
	}
	if g.chance(30) {
		spec["networking"] = g.networking()
	}
	if g.chance(30) {
		spec["settings"] = g.settings()
	}
	if g.chance(10) {
		spec["removeSettings"] = []any{oneOf(&g.values, []string{
			"vector_stores", "safety", "telemetry", "server.host",
			"logging.category_levels",
		})}
	}
	if g.chance(40) {
		spec["workload"] = g.workload()
	}
	if g.rel.Runtime.ModelsAskedAtStart {
		// When it starts, the server requests the models from the first provider of the base, which needs this key.
		spec["secretEnv"] = fields{"FIREWORKS_API_KEY": ref("fireworks", "token")}
	}
	g.fewer(spec)
	if !configured(spec) {
		spec["storage"] = fields{"kv": fields{}}
	}
	return spec
}

// fewer makes the spec remove providers from the base: all providers that the spec does not need, or all providers of
// one API.
func (g *generator) fewer(spec fields) {
	if providers, ok := spec["providers"].(fields); ok && len(providers) > 0 && spec["resources"] == nil && g.chance(40) {
		spec["distribution"] = requiredOnly()
	}
	if g.base != nil && spec["disabled"] == nil && g.chance(15) {
		spec["disabled"] = []any{oneOf(&g.values, g.base).api + "/*"}
	}
}

// configured reports whether the operator generates a configuration for the spec instead of using the image's own
// configuration.
func configured(spec fields) bool {
	return spec["providers"] != nil || spec["resources"] != nil || spec["storage"] != nil || spec["disabled"] != nil ||
		spec["settings"] != nil
}

func (g *generator) providers() fields {
	all := fields{}
	for range 1 + g.rand.IntN(4) {
		api := oneOf(&g.values, g.rel.APIs())
		types := g.sound(api)
		if len(types) == 0 {
			continue
		}
		name := intent.APIField(api)
		if _, written := all[name]; written {
			continue
		}
		if kind := oneOf(&g.values, types); g.chance(40) && !g.taken(kind.Short()) {
			all[name] = g.written(kind, "")
			g.ids[api] = append(g.ids[api], kind.Short())
			continue
		}
		var list []any
		for i := range 1 + g.rand.IntN(3) {
			id := fmt.Sprintf("%s-%d", strings.ToLower(name), i)
			list = append(list, g.written(oneOf(&g.values, types), id))
			g.ids[api] = append(g.ids[api], id)
		}
		all[name] = list
	}
	if len(all) == 0 {
		all = vllm()
		g.ids["inference"] = []string{"vllm"}
	}
	return all
}

// sound returns the provider types of an API, except for types that never start with the release.
func (g *generator) sound(api string) []*provider.Type {
	var types []*provider.Type
	for _, name := range g.rel.ProviderTypes(api) {
		if kind, _ := g.rel.Provider(api, name); kind.Broken == "" {
			types = append(types, kind)
		}
	}
	return types
}

// taken reports whether a provider already has the ID. The operator rejects two providers with the same ID.
func (g *generator) taken(id string) bool {
	for _, ids := range g.ids {
		if slices.Contains(ids, id) {
			return true
		}
	}
	return false
}

// written returns a provider of a type. The type is in its long or its short form.
func (g *generator) written(kind *provider.Type, id string) fields {
	p := g.provider(kind, id, oneOf(&g.values, []form{minimal, some, some}))
	if short, ok := g.rel.ResolveType(kind.API, kind.Short()); ok && short == kind && g.chance(50) {
		p["provider"] = kind.Short()
	}
	return p
}

func (g *generator) resources() fields {
	resources := fields{}
	var models []any
	for i := range 1 + g.rand.IntN(5) {
		models = append(models, g.model(fmt.Sprintf("model-%d", i)))
	}
	resources["models"] = models
	// The operator rejects resources without a provider, so such resources are rare.
	if g.chance(40) && (g.serves("tool_runtime") || g.chance(5)) {
		resources["tools"] = g.tools()
	}
	if _, known := g.rel.Resource("shields"); known && g.chance(40) && (g.serves("safety") || g.chance(5)) {
		resources["shields"] = []any{"guard", fields{
			"name": "own", "model": "vendor/guard",
			"params": fields{"a": 1.5e3, "b": "no"},
		}}
	}
	if !g.serves("inference") && (len(resources) > 1 || g.chance(90)) {
		delete(resources, "models")
	}
	return resources
}

// serves reports whether the base or the user has a provider for an API.
func (g *generator) serves(api string) bool { return g.base != nil || len(g.ids[api]) > 0 }

func (g *generator) model(name string) any {
	if g.chance(40) {
		return name
	}
	model := fields{"name": name}
	if g.chance(50) {
		model["contextLength"] = 1 + g.rand.IntN(100000)
	}
	if ids := g.ids["inference"]; len(ids) > 0 && g.chance(60) {
		model["provider"] = oneOf(&g.values, ids)
	}
	if g.chance(30) {
		model["modelType"] = oneOf(&g.values, modelTypes(g.rel))
		model["metadata"] = fields{"embedding_dimension": 384}
	}
	if g.chance(30) {
		model["providerModelId"] = "vendor/" + name
	}
	if g.chance(20) {
		model["quantization"] = oneOf(&g.values, []string{"fp8", "1_000", "on"})
	}
	return model
}

func (g *generator) tools() []any {
	var tools []any
	for _, tool := range g.rel.Tools.BuiltIn {
		if g.chance(30) && g.base != nil && tool.Name != "wolfram_alpha" {
			tools = append(tools, tool.Name)
		}
	}
	if g.base != nil || len(tools) == 0 {
		tools = append(tools, fields{"name": "mcp", "mcpEndpoint": "http://mcp.example:8080/mcp"})
	}
	return tools
}

func (g *generator) storage() fields {
	storage := fields{"kv": kvStores[oneOf(&g.values, sorted(kvStores))], "sql": sqlStores[oneOf(&g.values, sorted(sqlStores))]}
	if g.base != nil && g.chance(50) {
		delete(storage, oneOf(&g.values, []string{"kv", "sql"}))
	}
	return storage
}

// disabled returns entries for spec.disabled: APIs on which few other parts of a stack depend, and providers of the
// base.
func (g *generator) disabled() []any {
	choices := []string{
		"safety", "eval", "batches", "post_training", "postTraining", "telemetry", "messages",
		"interactions", "skills",
	}
	for _, p := range g.base {
		choices = append(choices, p.api+"/"+p.id)
	}
	disabled := make([]any, 0, 3)
	for range 1 + g.rand.IntN(3) {
		if choice := oneOf(&g.values, choices); !slices.Contains(disabled, any(choice)) {
			disabled = append(disabled, choice)
		}
	}
	return disabled
}

func (g *generator) networking() fields {
	networking := fields{"port": 1024 + g.rand.IntN(60000)}
	if g.chance(40) {
		networking["tls"] = fields{"enabled": true, "secretName": "tls"}
	}
	return networking
}

func (g *generator) workload() fields {
	workload := fields{}
	if g.chance(50) {
		workload["workers"] = 1 + g.rand.IntN(4)
	}
	if g.chance(30) {
		workload["storage"] = fields{"size": "20Gi", "mountPath": oneOf(&g.values, []string{"/.llama", "/data"})}
	}
	if g.chance(30) {
		workload["replicas"] = g.rand.IntN(3)
	}
	if g.chance(40) {
		workload["overrides"] = fields{"env": []any{fields{"name": "VLLM_URL", "value": "http://vllm.example:8000/v1"}}}
	}
	return workload
}
