package corpus

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
)

// requiredOnly is a distribution that keeps only the providers of the base that the declared ones need.
func requiredOnly() fields { return fields{"baseProviders": "Required"} }

// declared: stacks with only their own providers. One provider of each API over the starter, the light types of an API
// together, and vLLM with resources, storage and over a base of the user's own.
func (m *maker) declared() {
	v := &values{}
	for _, api := range m.rel.APIs() {
		name := intent.APIField(api)
		var all []any
		for _, providerType := range m.rel.ProviderTypes(api) {
			kind, _ := m.rel.Provider(api, providerType)
			if kind.Broken != "" || Heavy(kind) != "" || kind.Deprecated != "" {
				continue
			}
			p := v.provider(kind, kind.Short()+"-of-mine", minimal)
			if len(all) == 0 {
				m.add("declared/"+api, fields{"distribution": requiredOnly(), "providers": fields{name: p}})
				m.addOwn("declared/"+api+"/nothing", m.nothing(), fields{"distribution": requiredOnly(), "providers": fields{name: p}})
			}
			all = append(all, p)
		}
		if len(all) > 1 && api != "scoring" { // two scoring providers of a type do not start
			m.add("declared/"+api+"/all", fields{"distribution": requiredOnly(), "providers": fields{name: all}})
		}
	}
	m.add("declared/vllm/model", fields{"distribution": requiredOnly(), "providers": vllm(), "resources": fields{"models": []any{"a"}}})
	m.add("declared/vllm/storage", fields{"distribution": requiredOnly(), "providers": vllm(), "storage": fields{
		"kv": kvStores["redis"], "sql": sqlStores["postgres"],
	}})
	m.add("declared/vllm/disabled", fields{"distribution": requiredOnly(), "providers": vllm(), "disabled": []any{"vectorIo", "inference/openai"}})
}

// wildcards: the providers of one API of the starter, with and without a declared one, and of all its APIs.
func (m *maker) wildcards() {
	var all []any
	for _, p := range providersOf(shipped(m.rel, starter)) {
		item := p.api + "/*"
		if slices.Contains(all, any(item)) {
			continue
		}
		all = append(all, item)
		m.add("disabled/"+item, fields{"disabled": []any{item}})
	}
	m.add("disabled/inference/*/vllm", fields{"disabled": []any{"inference/*"}, "providers": vllm(), "resources": fields{"models": []any{"a"}}})
	m.add("disabled/*/vllm", fields{"disabled": all, "providers": vllm(), "resources": fields{"models": []any{"a"}}})
}
