package corpus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// Cases returns the cases from the data of a line, in a fixed order.
func Cases(rel *release.Release) []Case {
	m := &maker{rel: rel}
	m.providers()
	m.storage()
	m.resources()
	m.disabled()
	m.wildcards()
	m.declared()
	m.server()
	m.tls()
	m.settings()
	m.bases()
	m.conditions()
	m.own()
	return m.cases
}

// providers adds two cases for every provider type: one with only the required keys on the starter, and one with all
// keys on an empty base. It also adds the alternatives of each type.
func (m *maker) providers() {
	v := &values{}
	for _, api := range m.rel.APIs() {
		name := intent.APIField(api)
		for _, providerType := range m.rel.ProviderTypes(api) {
			kind, _ := m.rel.Provider(api, providerType)
			at := "provider/" + api + "/" + providerType
			if name == "" {
				panic("corpus: no field of spec.providers configures " + at)
			}
			short := v.provider(kind, "", minimal)
			short["provider"] = kind.Short()
			m.add(at+"/minimal", fields{"providers": fields{name: short}})
			m.addOwn(at+"/full", m.nothing(), fields{
				"providers": fields{name: []any{v.provider(kind, "one-of-mine", full)}},
				"storage":   fields{"kv": fields{}, "sql": fields{}},
			})
			m.alternatives(at, name, kind)
		}
	}
	inference := "inference"
	m.add("provider/two-of-a-type", fields{"providers": fields{inference: []any{
		fields{"id": "vllm-a", "provider": "vllm", "endpoint": "http://a.example:8000", "apiKey": ref("vllm-a", "token")},
		fields{"id": "vllm-b", "provider": "remote::vllm", "endpoint": "https://b.example/v1"},
	}}, "resources": fields{"models": []any{"a", fields{"name": "b", "provider": "vllm-b"}}}})
	m.add("provider/over-the-base", fields{"providers": fields{inference: []any{
		fields{"id": "openai", "provider": "openai", "endpoint": "http://gateway.example/v1", "apiKey": ref("openai", "key")},
	}}})
}

// alternatives adds a case for each key that excludes other keys. The case omits the excluded keys.
func (m *maker) alternatives(at, field string, kind *provider.Type) {
	var keys []string
	for _, rule := range kind.Config.Rules {
		if rule.Kind == schema.Exclusive {
			keys = append(keys, rule.Keys...)
		}
	}
	slices.Sort(keys)
	v := &values{}
	for _, name := range slices.Compact(keys) {
		done := map[string]bool{}
		for i := range kind.RequiredDefaults {
			done[kind.RequiredDefaults[i].Key] = true
		}
		p := fields{"provider": kind.Type, "id": "one-of-mine"}
		v.write(p, kind.Config, "one-of-mine", choose(kind.Config, done,
			func(key *schema.Key) bool { return key.Name == name }))
		m.addOwn(at+"/with-"+name, m.nothing(), fields{
			"providers": fields{field: p}, "storage": fields{"kv": fields{}, "sql": fields{}},
		})
	}
}

// ownOpenAI is a base with a provider that reads its credential from a user's variable.
const ownOpenAI = `providers:
  inference:
  - provider_id: openai
    provider_type: remote::openai
    config: {api_key: "${env.MY_KEY}"}`

// nothing returns the smallest base.
func (m *maker) nothing() string {
	return fmt.Sprintf("version: 2\n%s: mine\nproviders: {}\n", m.rel.Runtime.DistributionKey)
}

// These are the ways to specify each store.
var (
	kvStores = map[string]fields{
		"default":        {},
		"sqlite":         {"type": "sqlite"},
		"redis":          {"type": "redis", "endpoint": "cache.example"},
		"redis-password": {"type": "redis", "endpoint": "redis://cache.example:6380", "password": ref("redis", "password")},
		"postgres":       {"type": "postgres", "connectionString": ref(kvDatabase, "url")},
	}
	sqlStores = map[string]fields{
		"default":  {},
		"sqlite":   {"type": "sqlite"},
		"postgres": {"type": "postgres", "connectionString": ref(sqlDatabase, "url")},
	}
)

// storage adds two cases for every pair of stores (one of the two stores can be missing): a case on the starter, and a
// case on an empty base with a model that the server registers.
func (m *maker) storage() {
	for _, kv := range append(sorted(kvStores), "") {
		for _, sql := range append(sorted(sqlStores), "") {
			storage := fields{}
			if kv != "" {
				storage["kv"] = kvStores[kv]
			}
			if sql != "" {
				storage["sql"] = sqlStores[sql]
			}
			if len(storage) == 0 {
				continue
			}
			name := strings.Trim("kv-"+kv+"+sql-"+sql, "+")
			m.add("storage/"+name, fields{"storage": storage})
			m.addOwn("storage/"+name+"/registry", m.nothing(),
				fields{"storage": storage, "providers": vllm(), "resources": fields{"models": []any{"a"}}})
		}
	}
}

func vllm() fields {
	return fields{"inference": fields{
		"provider": "vllm", "endpoint": "http://vllm.example:8000",
		"apiKey": ref("vllm", "token"),
	}}
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// resources adds cases with shields, with tools, and with models of each type.
func (m *maker) resources() {
	add := func(name string, resources fields) {
		m.add("resources/"+name, fields{"resources": resources})
		m.add("resources/"+name+"/vllm", fields{"resources": resources, "providers": vllm()})
	}
	add("model", fields{"models": []any{"a", "b/c-1.5:latest"}})
	for _, kind := range modelTypes(m.rel) {
		model := fields{
			"name": "a", "modelType": kind, "providerModelId": "vendor/a", "contextLength": 4096, "quantization": "fp8",
			"metadata": fields{"embedding_dimension": 384, "note": "yes", "nested": fields{"a": []any{1, "1e3", nil, true}}},
		}
		add("model-"+kind, fields{"models": []any{model}})
	}
	add("model-of-base", fields{"models": []any{fields{"name": "gpt", "provider": "openai"}}})
	add("model-of-any-name", fields{"models": []any{"12345", "true", "${env.MODEL:=a}", "it's", "null"}})
	add("shield", fields{"shields": []any{"guard"}})
	add("shield-full", fields{"shields": []any{fields{
		"name": "guard", "provider": "llama-guard", "model": "llama-guard3-8b", "params": fields{"a": 1.5e3, "b": "off"},
	}}})
	add("mcp", fields{"tools": []any{fields{"name": "mcp::tickets", "mcpEndpoint": "http://mcp.example:3000/sse"}}})
	add("mcp-args", fields{"tools": []any{fields{
		"name": "tickets", "mcpEndpoint": "https://mcp.example/mcp",
		"args": fields{"a": 1},
	}}})
	for _, tool := range m.rel.Tools.BuiltIn {
		add("tool-"+tool.Name, fields{"tools": []any{tool.Name}})
		for _, full := range tool.Providers {
			id := strings.ReplaceAll(full, "::", "-")
			m.add("resources/tool-"+tool.Name+"/"+full, fields{
				"providers": fields{"toolRuntime": fields{"id": id, "provider": full}},
				"resources": fields{"tools": []any{fields{"name": tool.Name, "provider": id, "args": fields{"max": 3}}}},
			})
		}
	}
	add("all", fields{
		"models": []any{"a"}, "tools": []any{"websearch", fields{"name": "mcp", "mcpEndpoint": "http://mcp.example/mcp"}},
		"shields": []any{"guard"},
	})
}

// modelTypes returns the possible values of a model's type.
func modelTypes(rel *release.Release) []string {
	models, _ := rel.Resource("models")
	key, ok := models.Class.Key("model_type")
	if !ok {
		return nil
	}
	types := slices.Clone(key.Type.Values)
	for _, member := range key.Type.Args {
		types = append(types, member.Values...)
	}
	return types
}

// disabled adds cases that disable each API that any release has, under each of its names, and each provider of the
// starter.
func (m *maker) disabled() {
	for _, api := range release.KnownAPIs() {
		m.add("disabled/"+api, fields{"disabled": []any{api}})
		if name := intent.APIField(api); name != "" && name != api {
			m.add("disabled/"+name, fields{"disabled": []any{name}})
		}
		m.add("disabled/"+api+"/small", fields{
			"disabled": []any{api}, "providers": vllm(), "resources": fields{"models": []any{"a"}},
			"storage": fields{"sql": fields{}},
		})
	}
	for _, p := range providersOf(shipped(m.rel, starter)) {
		m.add("disabled/"+p.api+"/"+p.id, fields{"disabled": []any{p.api + "/" + p.id}})
	}
	var all []any
	for _, api := range m.rel.APIs() {
		if known, _ := m.rel.API(api); known.Providable && api != "inference" {
			all = append(all, api)
		}
	}
	m.add("disabled/all-but-inference", fields{"disabled": all})
	m.add("disabled/all-but-inference/vllm", fields{
		"disabled": all, "providers": vllm(),
		"resources": fields{"models": []any{"a"}},
	})
	m.add("disabled/everything", fields{"disabled": append(slices.Clone(all), "inference")})
	m.add("disabled/ignored", fields{
		"disabled":  []any{"inference/mine"},
		"providers": fields{"inference": fields{"id": "mine", "provider": "openai"}},
	})
}

// server adds cases with settings for the listener, the number of processes, telemetry, and a variable from a Secret.
func (m *maker) server() {
	for _, port := range []int{1024, 9000, 65535} {
		m.add(fmt.Sprintf("server/port-%d", port), fields{
			"networking": fields{"port": port},
			"storage":    fields{"kv": fields{}},
		})
	}
	for _, workers := range []int{1, 4} {
		m.add(fmt.Sprintf("server/workers-%d", workers), fields{
			"workload": fields{"workers": workers},
			"storage":  fields{"kv": fields{}},
		})
	}
	m.add("server/telemetry-variables", fields{
		"storage": fields{"kv": fields{}},
		"workload": fields{"overrides": fields{"env": []any{fields{
			"name":  "OTEL_EXPORTER_OTLP_ENDPOINT",
			"value": "http://otel.example:4318",
		}}}},
	})
	m.addOwn("server/secretEnv", strings.Replace(m.nothing(), "providers: {}", ownOpenAI, 1), fields{
		"secretEnv": fields{"MY_KEY": ref("mine", "key")}, "storage": fields{"kv": fields{}, "sql": fields{}},
	})
}
