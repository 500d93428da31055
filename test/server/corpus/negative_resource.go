package corpus

import (
	"maps"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// models adds mistakes in models, shields and other registered resources.
func (n *negatives) models() {
	models := func(all ...any) fields { return fields{"resources": fields{"models": all}} }
	first := func(change func(model fields)) func(fields) {
		return func(config fields) { change(n.registered(config)["models"].([]any)[0].(fields)) }
	}
	right := models("a")
	n.refused("model/of-no-provider", "nowhere", n.nextTo(right, models(fields{"name": "a", "provider": "nowhere"}),
		first(func(model fields) { model["provider_id"] = "nowhere" })))
	n.refused("model/of-no-provider-in-the-base", "nowhere", n.inBase(func(config fields) {
		registerIn(config, n.section(), "models", fields{"model_id": "a", "provider_id": "nowhere"})
	}))
	n.refused("model/type", "model_type", n.nextTo(right, models(fields{"name": "a", "modelType": "poem"}),
		first(func(model fields) { model["model_type"] = "poem" })))
	embedding := func(value any) mistake {
		metadata := fields{}
		if value != nil {
			metadata["embedding_dimension"] = value
		}
		good := fields{"name": "a", "modelType": "embedding", "metadata": fields{"embedding_dimension": 384}}
		return n.nextTo(models(good), models(fields{"name": "a", "modelType": "embedding", "metadata": metadata}),
			first(func(model fields) { model["metadata"] = metadata }))
	}
	n.refused("model/embedding-without-dimension", "embedding", embedding(nil))
	n.choice("model/embedding-with-a-fraction", Taken, "The length of a vector must be a whole number. With this value, the first request for a vector would fail.", embedding(1.5))
	n.choice("model/embedding-with-a-text", Taken, "The length of a vector must be a whole number. With this value, the first request for a vector would fail.", embedding("many"))
	unserved := mistake{
		wrong: n.own(fields{"storage": fields{"kv": fields{}}, "resources": fields{"models": []any{"a"}}}),
		right: n.small,
	}
	n.choice("model/without-any-provider", Unasked, "The server omits an entry without a provider, and does not report this.", unserved)
	twice := n.nextTo(right, models("a", fields{"name": "a", "contextLength": 4096}), func(config fields) {
		registerIn(config, n.section(), "models", fields{
			"model_id": "a", "provider_id": "vllm",
			"metadata": fields{"context_length": 4096},
		})
	})
	if n.rel.Runtime.RegistryReplaces {
		n.choice("model/twice", Taken, "It is unclear which of the two entries the user intends. The server uses the first entry.", twice)
	} else {
		n.refused("model/twice", "already exists", twice)
	}
	n.choice("model/key-set-twice", Unasked, "It is unclear which of the two values the user intends.", mistake{
		right: n.small,
		wrong: n.own(n.smallSpec(models(fields{
			"name": "a", "contextLength": 4096,
			"metadata": fields{"context_length": 1},
		}))),
	})
	if known, _ := n.rel.Resource("models"); known.DropsID() {
		of := func(name string, length int) fields {
			return fields{"name": name, "providerModelId": "x", "contextLength": length}
		}
		n.refused("model/two-names-of-one", "already exists|conflicting|already registered", n.nextTo(models(of("a", 1)), models(of("a", 1), of("b", 2)),
			func(config fields) {
				registerIn(config, n.section(), "models", fields{
					"model_id": "b", "provider_id": "vllm", "provider_model_id": "x", "metadata": fields{"context_length": 2},
				})
			}))
		n.choice("model/name-that-is-dropped", Taken, "The model has a different name in the server, and clients must send that name.", mistake{
			wrong: n.own(n.smallSpec(models(fields{"name": "a", "providerModelId": "x"}))), right: n.small,
		})
	}
	if n.rel.Runtime.ModelsAskedAtStart {
		n.keyless(models)
	}
	if d, ok := n.rel.Distribution(starter); ok {
		n.conditional(d)
	}
	n.shields()
	for _, known := range n.rel.Resources() {
		if known.Dropped {
			n.choice("resource/dropped/"+known.Kind, Taken, "The server reads the list but registers none of its entries. The user might be unable to change the base.",
				n.inBase(func(config fields) { n.registerDropped(config, known) }))
		}
	}
}

// section returns the release's section for registered resources.
func (n *negatives) section() string {
	known, _ := n.rel.Resource("models")
	return known.Section
}

func (n *negatives) registered(config fields) fields {
	if n.section() == release.TopLevel {
		return config
	}
	return at(config, n.section())
}

// registerDropped adds a resource that refers only to parts of the small stack.
func (n *negatives) registerDropped(config fields, known release.Resource) {
	n.m.register(config, known)
	for _, kind := range []string{"models", known.Kind} {
		all, _ := n.registered(config)[kind].([]any)
		for _, item := range all {
			item.(fields)["provider_id"] = "vllm"
			if _, named := item.(fields)["embedding_model"]; named {
				item.(fields)["embedding_model"] = "vllm/embed"
			}
		}
	}
}

// keyless adds a model whose provider has no credential.
func (n *negatives) keyless(models func(...any) fields) {
	groq := func(more fields) fields {
		p := fields{"id": "groq", "provider": "groq"}
		maps.Copy(p, more)
		return fields{"providers": fields{"inference": p}}
	}
	with := func(spec fields) fields {
		maps.Copy(spec, models("a"))
		return spec
	}
	n.refused("model/asked-for-without-a-key", "not available|API key|api_key|not found|not set", n.nextTo(groq(nil), with(groq(nil)), func(config fields) {
		registerIn(config, n.section(), "models", fields{"model_id": "a", "provider_id": "groq"})
	}))
	n.choice("model/asked-for-without-a-key-at-an-endpoint", Unasked, "It is possible that the user's own server does not require a key.",
		n.nextTo(groq(fields{"endpoint": "http://models.example"}), with(groq(fields{"endpoint": "http://models.example"})),
			nil))
}

// conditional adds a model whose provider exists in the base only if a variable is set.
func (n *negatives) conditional(d *release.Distribution) {
	for _, p := range providersOf(shipped(n.rel, starter)) {
		if p.api != "inference" || p.condition == "" || len(d.Variables) == 0 {
			continue
		}
		c := newCase(n.rel, "negative", starter, shipped(n.rel, starter), true, fields{
			"resources": fields{"models": []any{fields{"name": "a", "provider": p.id}}},
		})
		n.choice("model/of-a-conditional-provider", Unasked, "Until the pod starts, the operator cannot determine whether the variable is set.", mistake{wrong: &c, right: n.small})
		return
	}
}

// shields adds mistakes in shields, for releases with and without shields.
func (n *negatives) shields() {
	known, ok := n.rel.Resource("shields")
	if !ok || known.Dropped {
		n.choice("shield/of-another-release", Ignored, "The stack would serve requests without the shield that the user requested.", mistake{
			wrong: n.own(n.smallSpec(fields{"resources": fields{"shields": []any{"guard"}}})), right: n.small,
			change: func(config fields) {
				registerIn(config, n.section(), "shields", fields{"shield_id": "guard", "provider_id": "llama-guard"})
			},
		})
		return
	}
	guarded := func(more fields) fields {
		spec := fields{
			"providers": fields{"inference": n.vllm(nil), "safety": fields{"id": "guard", "provider": "llama-guard"}},
			"resources": fields{"shields": []any{"guard"}},
		}
		maps.Copy(spec, more)
		return spec
	}
	if key, ok := n.rel.TopLevel.Key("safety"); !ok || classOf(key.Type) == nil {
		return
	}
	shield := func(id string) fields { return fields{"settings": fields{"safety": fields{"default_shield_id": id}}} }
	stale := n.over([]byte(n.m.nothing()+"safety: {default_shield_id: nowhere}\n"), n.smallSpec(guarded(nil)))
	n.refused("supplied/default-shield", "nowhere|shield", n.in(stale, func(config fields) { at(config, "safety")["default_shield_id"] = "nowhere" }))
	n.refused("shield/default-that-is-none", "nowhere", n.nextTo(guarded(nil), guarded(shield("nowhere")),
		func(config fields) { at(config, "safety")["default_shield_id"] = "nowhere" }))
	n.refused("shield/default-without-the-api", "safety|shield", n.inBase(func(config fields) {
		config["apis"] = []any{"inference"}
		at(config, "safety")["default_shield_id"] = "guard"
	}))
}

// names adds a model without a provider, and names of models and shields that do not exist.
func (n *negatives) names() {
	base := n.base(func(config fields) {
		addProvider(config, "inference", fields{
			"provider_id": "another", "provider_type": "remote::vllm",
			"config": maps.Clone(configOf(config, "inference")),
		})
	})
	spec := n.again()
	spec["resources"] = fields{"models": []any{"a"}}
	named := n.again()
	named["resources"] = fields{"models": []any{fields{"name": "a", "provider": "vllm"}}}
	n.choice("model/of-the-first-provider", Unasked, "The user might intend a provider other than the first provider of the base.",
		mistake{wrong: n.over(base, spec), right: n.over(base, named)})
	if _, ok := n.rel.Provider("safety", "inline::llama-guard"); !ok {
		return
	}
	shield := func(s fields, kind string, models ...any) fields {
		resources := fields{"shields": []any{s}}
		if len(models) > 0 {
			resources["models"] = models
		}
		return fields{
			"providers": fields{"inference": n.vllm(nil), "safety": fields{"id": "guard", "provider": kind}},
			"resources": resources,
		}
	}
	n.choice("shield/model-in-another-case", Unasked, "The server starts, but the first request that uses the shield fails.",
		n.nextTo(shield(fields{"name": "a", "model": "vllm/llama"}, "llama-guard", "llama"),
			shield(fields{"name": "a", "model": "vllm/Llama"}, "llama-guard", "llama"), nil))
	n.choice("shield/of-no-model", Unasked, "The server starts, but the first request that uses the shield fails.",
		n.nextTo(shield(fields{"name": "a", "model": "vllm/llama"}, "llama-guard", "llama"),
			shield(fields{"name": "a", "model": "nobody/llama"}, "llama-guard", "llama"), nil))
	n.refused("shield/that-its-provider-does-not-know", "Unsupported Code Scanner ID|codeshield", n.nextTo(
		shield(fields{"name": "code-scanner"}, "code-scanner"), shield(fields{"name": "mine"}, "code-scanner"),
		func(config fields) {
			item := n.registered(config)["shields"].([]any)[0].(fields)
			item["shield_id"] = "mine"
		}))
	n.refused("shield/of-the-base-that-its-provider-does-not-know", "Unsupported Code Scanner ID|codeshield", n.inBaseOf(
		n.own(n.smallSpec(shield(fields{"name": "code-scanner"}, "code-scanner"))),
		func(config fields) {
			item := n.registered(config)["shields"].([]any)[0].(fields)
			item["provider_shield_id"] = "mine"
		}))
	n.refused("shield/that-prompt-guard-does-not-know", "Only Prompt-Guard-86M", n.nextTo(
		shield(fields{"name": "Prompt-Guard-86M"}, "prompt-guard"), shield(fields{"name": "mine"}, "prompt-guard"),
		func(config fields) {
			item := n.registered(config)["shields"].([]any)[0].(fields)
			item["shield_id"] = "mine"
		}))
}

// tools adds mistakes in tools, for example tools that the server does not have.
func (n *negatives) tools() {
	search := fields{"id": "brave", "provider": "brave-search", "apiKey": ref("key", "key")}
	brave := fields{"inference": n.vllm(nil), "toolRuntime": search}
	with := func(providers fields, tool any) mistake {
		return mistake{
			wrong: n.own(n.smallSpec(fields{"providers": providers, "resources": fields{"tools": []any{tool}}})),
			right: n.small,
		}
	}
	alone := fields{"inference": n.vllm(nil)}
	n.choice("tool/without-any-provider", Unasked, "No provider would run the tool.", with(alone, "websearch"))
	n.choice("tool/without-its-provider", Unasked, "No provider would run the tool.", with(brave, "rag"))
	n.choice("tool/of-the-wrong-provider", Unasked, "The provider does not offer the tool, so a request that uses the tool would fail.",
		with(brave, fields{"name": "rag", "provider": "brave"}))
	n.choice("tool/of-no-provider", Unasked, "No provider would run the tool.",
		with(brave, fields{"name": "websearch", "provider": "nowhere"}))
	n.choice("tool/built-in-with-an-endpoint", Unasked, "The server would call its own tool instead of the MCP server.",
		with(brave, fields{"name": "websearch", "mcpEndpoint": "http://mcp.example/mcp"}))
	if _, ok := n.rel.Resource("tool_groups"); !ok || n.dropped("tool_groups") {
		n.choice("tool/of-no-kind", Ignored, "The stack would serve requests without the tool that the user requested.", mistake{
			wrong: n.own(n.smallSpec(fields{"providers": brave, "resources": fields{"tools": []any{"calculator"}}})),
			right: n.own(n.smallSpec(fields{"providers": brave})),
			change: func(config fields) {
				registerIn(config, n.section(), "tool_groups", fields{"toolgroup_id": "calculator", "provider_id": "brave"})
			},
		})
	}
	if builtIn, ok := n.rel.Tools.BuiltInTool("websearch"); ok && builtIn.Automatic {
		n.choice("tool/provider-that-is-not-read", Unasked, "The release does not accept a provider for the tool, so the configuration does not contain the provider.",
			with(brave, fields{"name": "websearch", "provider": "brave"}))
		n.choice("tool/arguments-that-are-not-read", Unasked, "The release does not accept arguments, so the configuration does not contain them.",
			with(brave, fields{"name": "websearch", "args": fields{"max": 1}}))
	}
	mcp := fields{"inference": n.vllm(nil), "toolRuntime": []any{
		search,
		fields{"id": "mcp", "provider": "model-context-protocol"},
	}}
	n.choice("tool/mcp-without-its-provider", Unasked, "No provider would run the tool.",
		with(brave, fields{"name": "a", "mcpEndpoint": "http://mcp.example/mcp"}))
	if n.rel.Tools.MCP != "tool_groups" {
		n.choice("tool/arguments-of-an-mcp-server", Unasked, "The release does not accept arguments, so the configuration does not contain them.",
			with(mcp, fields{"name": "a", "mcpEndpoint": "http://mcp.example/mcp", "args": fields{"a": 1}}))
		n.choice("tool/provider-of-an-mcp-server", Unasked, "The release does not accept a provider for the tool, so the configuration does not contain the provider.",
			with(mcp, fields{"name": "a", "mcpEndpoint": "http://mcp.example/mcp", "provider": "mcp"}))
	}
	n.choice("tool/disabled", Unasked, "Two fields contradict each other, and spec.disabled takes precedence.", mistake{right: n.small, wrong: n.own(n.smallSpec(fields{
		"disabled": []any{"toolRuntime"}, "resources": fields{"tools": []any{"websearch"}},
	}))})
}

func (n *negatives) dropped(kind string) bool {
	known, _ := n.rel.Resource(kind)
	return known.Dropped
}
