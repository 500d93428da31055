package stackconfig_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// randomSpec uses the data of a release to generate specs like those that users write.
type randomSpec struct {
	*rand.Rand
	rel *release.Release
	ids map[string][]string
}

func (r *randomSpec) chance(percent int) bool { return r.IntN(100) < percent }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func ref(name, key string) map[string]any {
	return map[string]any{"secretKeyRef": map[string]any{"name": name, "key": key}}
}

// object returns a whole spec as decoded JSON.
func (r *randomSpec) object() map[string]any {
	spec := map[string]any{"distribution": map[string]any{"name": "starter"}}
	if r.chance(80) {
		spec["providers"] = r.providers()
	}
	if r.chance(70) {
		spec["resources"] = r.resources()
	}
	if r.chance(50) {
		spec["storage"] = r.storage()
	}
	if r.chance(30) {
		spec["disabled"] = r.disabled()
	}
	if r.chance(30) {
		spec["networking"] = map[string]any{"port": 1024 + r.IntN(60000)}
	}
	if r.chance(30) {
		spec["workload"] = map[string]any{"workers": 1 + r.IntN(4)}
	}
	if r.chance(40) {
		spec["settings"] = r.patch()
	}
	if r.chance(20) {
		spec["removeSettings"] = pick(r.Rand, [][]any{
			{"vector_stores"},
			{"server.quota", "safety.default_shield_id"},
			{"telemetry", "server.host"},
		})
	}
	return spec
}

// patch returns random settings, which match the classes of the sections and set no keys that spec fields set.
func (r *randomSpec) patch() map[string]any {
	patch := make(map[string]any)
	for _, section := range []string{"server", "vector_stores", "safety", "logging", "external_providers_dir"} {
		key, _ := r.rel.TopLevel.Key(section)
		if value, ok := r.section(key.Type); ok && r.chance(40) {
			patch[section] = value
		}
	}
	if server, ok := patch["server"].(map[string]any); ok {
		for _, owned := range []string{"port", "workers", "tls_certfile", "tls_keyfile", "tls_cafile", "insecure"} {
			delete(server, owned)
		}
	}
	if len(patch) == 0 {
		patch["server"] = map[string]any{"cors": true}
	}
	return patch
}

// section returns a random value of the given type. Unlike `value`, it also supports classes and lists, and it can use
// any member of a union.
func (r *randomSpec) section(expr *schema.Expr) (any, bool) {
	switch expr.Kind {
	case schema.KindUnion:
		return r.section(pick(r.Rand, expr.Args))
	case schema.KindClass:
		object := make(map[string]any)
		for i := range expr.Class.Keys {
			key := &expr.Class.Keys[i]
			if value, ok := r.section(key.Type); ok && (key.Required || r.chance(30)) {
				object[key.Name] = value
			}
		}
		return object, true
	case schema.KindList:
		item, ok := r.section(expr.Args[0])
		return []any{item}, ok
	default:
		return r.value(expr)
	}
}

func (r *randomSpec) providers() map[string]any {
	all := make(map[string]any)
	for range 1 + r.IntN(4) {
		api := pick(r.Rand, r.rel.APIs())
		types := r.rel.ProviderTypes(api)
		name := intent.APIField(api)
		if len(types) == 0 || name == "" {
			continue
		}
		if r.chance(50) {
			all[name] = r.provider(api, pick(r.Rand, types), "")
			continue
		}
		var list []any
		for i := range 1 + r.IntN(3) {
			list = append(list, r.provider(api, pick(r.Rand, types), fmt.Sprintf("%s-%d", strings.ToLower(name), i)))
		}
		all[name] = list
	}
	if len(all) == 0 {
		all["inference"] = map[string]any{"provider": "vllm", "endpoint": "http://vllm:8000"}
	}
	return all
}

func (r *randomSpec) provider(api, full, id string) map[string]any {
	kind, _ := r.rel.Provider(api, full)
	p := map[string]any{"provider": full}
	if r.chance(50) {
		p["provider"] = kind.Short()
		kind, _ = r.rel.ResolveType(api, kind.Short())
	}
	if id != "" {
		p["id"] = id
	} else {
		id = kind.Short()
	}
	r.ids[api] = append(r.ids[api], id)
	set := make(map[string]bool)
	if kind.EndpointKey != "" && (r.chance(70) || required(kind.Config, kind.EndpointKey)) {
		p["endpoint"] = "http://" + id + ":8000"
		if kind.PortKey != "" {
			p["endpoint"] = id + ":5432"
			set[kind.PortKey] = true
		}
		set[kind.EndpointKey] = true
	}
	if kind.CredentialKey != "" && (r.chance(60) || required(kind.Config, kind.CredentialKey)) {
		p["apiKey"] = ref(id, "token")
		set[kind.CredentialKey] = true
	}
	r.settings(p, kind.Config, set, kind.RequiredDefaults != nil)
	return p
}

func required(class *schema.Class, name string) bool {
	key, ok := class.Key(name)
	return ok && key.Required
}

// settings fills some keys of a class. It includes the required keys, except those with a default value in the data of
// the release.
func (r *randomSpec) settings(p map[string]any, class *schema.Class, set map[string]bool, defaults bool) {
	settings := make(map[string]any)
	for i := range class.Keys {
		key := &class.Keys[i]
		if set[key.Name] || (defaults && hasDefault(key.Name)) || key.Deprecated {
			continue
		}
		if !key.Required && !r.chance(15) {
			continue
		}
		if key.Secret || key.Type.Kind == schema.KindSecret {
			p["secretRefs"] = map[string]any{key.Name: ref("more", key.Name)}
			continue
		}
		if value, ok := r.value(key.Type); ok {
			settings[key.Name] = value
		}
	}
	if len(settings) > 0 {
		p["settings"] = settings
	}
}

// hasDefault reports whether the RequiredDefaults of any type contain the key.
func hasDefault(key string) bool {
	switch key {
	case "persistence", "kvstore", "metadata_store", "storage_dir", "db_path", "path", "token":
		return true
	}
	return false
}

// value returns a random value of a simple type. It does not support other types, such as classes and lists. For a
// union, it uses only the first member.
func (r *randomSpec) value(expr *schema.Expr) (any, bool) {
	switch expr.Kind {
	case schema.KindBool:
		return r.chance(50), true
	case schema.KindInt:
		return 200 + r.IntN(200), true
	case schema.KindFloat:
		return 0.5, true
	case schema.KindStr:
		return pick(r.Rand, []string{"text", "yes", "12:30", "1_000", "a: b", "two\nlines", "=", "2024-01-01", "it's"}), true
	case schema.KindURL:
		return "http://elsewhere:8000/v1", true
	case schema.KindLiteral:
		return pick(r.Rand, expr.Values), true
	case schema.KindUnion:
		return r.value(expr.Args[0])
	default:
		return nil, false
	}
}

func (r *randomSpec) resources() map[string]any {
	resources := make(map[string]any)
	var models []any
	for i := range 1 + r.IntN(5) {
		name := fmt.Sprintf("model-%d", i)
		if r.chance(50) {
			models = append(models, name)
			continue
		}
		model := map[string]any{"name": name, "contextLength": 1 + r.IntN(100000)}
		if ids := r.ids["inference"]; len(ids) > 0 && r.chance(60) {
			model["provider"] = pick(r.Rand, ids)
		}
		if r.chance(20) {
			model["modelType"] = "embedding"
			model["metadata"] = map[string]any{"embedding_dimension": 384}
		}
		models = append(models, model)
	}
	resources["models"] = models
	if r.chance(40) {
		resources["tools"] = []any{"websearch", map[string]any{"name": "mcp", "mcpEndpoint": "http://mcp:8080/mcp"}}
	}
	if r.chance(40) {
		resources["shields"] = []any{"llama-guard", map[string]any{
			"name": "own", "model": "guard",
			"params": map[string]any{"a": 1.5e3},
		}}
	}
	return resources
}

func (r *randomSpec) storage() map[string]any {
	postgres := map[string]any{"type": "postgres", "connectionString": ref("pg", "url")}
	kv := pick(r.Rand, []map[string]any{
		{},
		{"type": "sqlite"},
		postgres,
		{"type": "redis", "endpoint": "cache:6379"},
		{"type": "redis", "endpoint": "cache", "password": ref("redis", "password")},
	})
	sql := pick(r.Rand, []map[string]any{{}, {"type": "sqlite"}, postgres})
	return pick(r.Rand, []map[string]any{{"kv": kv}, {"sql": sql}, {"kv": kv, "sql": sql}})
}

func (r *randomSpec) disabled() []any {
	return pick(r.Rand, [][]any{
		{"safety"},
		{"eval", "scoring"},
		{"inference/openai"},
		{"vector_io/faiss", "inference/sentence-transformers"},
		{"batches"},
		{"toolRuntime/tavily-search"},
		{"agents"},
		{"files"},
		{"inference"},
	})
}

func randomIntent(seed uint64) (*intent.Intent, error) {
	r := &randomSpec{Rand: rand.New(rand.NewPCG(seed, 1)), rel: release.Default(), ids: make(map[string][]string)}
	data, err := json.Marshal(r.object())
	if err != nil {
		return nil, err
	}
	var obj v1alpha2.LlamaStackDistribution
	if err := json.Unmarshal(data, &obj.Spec); err != nil {
		return nil, err
	}
	obj.Name = "demo"
	in, errs := intent.FromObject(&obj)
	if len(errs) > 0 {
		return in, errs.ToAggregate()
	}
	return in, nil
}

// TestRandomSpecs generates specs from the data of the release, and a configuration for each spec. Half of the specs
// use the starter base, and the other half use a nearly empty base. The test checks that the results have the
// properties that every result must have, and that most specs are accepted.
func TestRandomSpecs(t *testing.T) {
	bases := [][]byte{starter(t), []byte("distro_name: bare\nproviders: {}\n")}
	const runs = 600
	accepted := 0
	for seed := range uint64(runs) {
		in, err := randomIntent(seed)
		if in == nil {
			t.Fatal(err)
		}
		data := bases[seed%2]
		result, report := stackconfig.Generate(stackconfig.Input{
			Intent: in, Base: parseBase(t, data),
			Release: release.Default(),
		})
		if result == nil {
			if len(report.Errors) == 0 {
				t.Errorf("seed %d: no result and no error", seed)
			}
			continue
		}
		accepted++
		holds(t, data, in, result, report)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, result.Config)
		}
	}
	if accepted < runs/2 {
		t.Errorf("only %d of %d specs are accepted; the generator writes too many invalid specs", accepted, runs)
	}
}

// FuzzSpec checks the properties that TestRandomSpecs checks, with the starter as the base, for any seed.
func FuzzSpec(f *testing.F) {
	f.Add(uint64(1))
	data := starter(f)
	f.Fuzz(func(t *testing.T, seed uint64) {
		in, err := randomIntent(seed)
		if in == nil {
			t.Fatal(err)
		}
		if result, report := stackconfig.Generate(stackconfig.Input{
			Intent: in, Base: parseBase(t, data),
			Release: release.Default(),
		}); result != nil {
			holds(t, data, in, result, report)
		}
	})
}
