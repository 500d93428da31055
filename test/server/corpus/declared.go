package corpus

import (
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// requiredOnly returns a distribution with only those providers of the base that the declared providers need.
func requiredOnly() fields { return fields{"baseProviders": "Required"} }

// declared adds stacks with distribution.baseProviders set to Required: one declared provider of each API on the
// starter and on an empty base, and vLLM with resources, storage and disabled APIs.
func (m *maker) declared() {
	v := &values{}
	for _, api := range m.rel.APIs() {
		name := intent.APIField(api)
		for _, providerType := range m.rel.ProviderTypes(api) {
			kind, _ := m.rel.Provider(api, providerType)
			if kind.Broken == "" && kind.Deprecated == "" && Heavy(kind) == "" {
				p := v.provider(kind, kind.Short()+"-of-mine", minimal)
				m.add("declared/"+api, fields{"distribution": requiredOnly(), "providers": fields{name: p}})
				m.addOwn("declared/"+api+"/nothing", m.nothing(),
					fields{"distribution": requiredOnly(), "providers": fields{name: p}})
				break
			}
		}
	}
	m.add("declared/vllm/model", fields{
		"distribution": requiredOnly(), "providers": vllm(),
		"resources": fields{"models": []any{"a"}},
	})
	m.add("declared/vllm/storage", fields{"distribution": requiredOnly(), "providers": vllm(), "storage": fields{
		"kv": kvStores["redis"], "sql": sqlStores["postgres"],
	}})
	m.add("declared/vllm/disabled", fields{
		"distribution": requiredOnly(), "providers": vllm(),
		"disabled": []any{"vectorIo", "inference/openai"},
	})
}

// wildcards adds cases that disable all providers of one API in the starter, with and without a declared provider, and
// a case that disables the providers of all APIs.
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
	m.add("disabled/inference/*/vllm", fields{
		"disabled": []any{"inference/*"}, "providers": vllm(),
		"resources": fields{"models": []any{"a"}},
	})
	m.add("disabled/*/vllm", fields{"disabled": all, "providers": vllm(), "resources": fields{"models": []any{"a"}}})
}

// declared adds mistakes in a stack with distribution.baseProviders set to Required.
func (n *negatives) declared() {
	const why = "The user requests a stack without the base providers that the user's own providers do not need, and the message states the consequences."
	base := n.base(func(config fields) {
		addProvider(config, "inference", fields{"provider_id": "other", "provider_type": "remote::openai"})
	})
	spec := n.smallSpec(fields{
		"distribution": requiredOnly(),
		"resources":    fields{"models": []any{fields{"name": "a", "provider": "other"}}},
	})
	n.choice("declared/named-by-a-model", Unasked, why, mistake{wrong: n.over(base, spec), right: n.small})
	spec = fields{"distribution": requiredOnly(), "providers": fields{
		"inference": n.vllm(nil),
		"batches":   fields{"provider": "reference"},
	}}
	n.choice("declared/needs-the-base", Unasked, why, mistake{
		wrong: n.over(shipped(n.rel, starter), spec),
		right: n.small,
	})
	spec = fields{"distribution": requiredOnly(), "providers": fields{"vectorIo": fields{"provider": "faiss"}}}
	n.choice("declared/default-of-the-base", Unasked, why,
		mistake{wrong: n.over(shipped(n.rel, starter), spec), right: n.small})
}
