package corpus

import (
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// references adds settings that refer to objects that do not exist.
func (n *negatives) references() {
	if _, ok := n.rel.TopLevel.Key("vector_stores"); !ok {
		return
	}
	faiss := fields{"inference": n.vllm(nil), "vectorIo": fields{"provider": "faiss"}}
	for _, reference := range n.rel.References {
		section, key, below := strings.Cut(reference.Path, ".")
		if section != "vector_stores" || !below || strings.Contains(key, ".") || reference.ProviderKey == "" {
			continue
		}
		value := any("nowhere")
		if reference.ProviderKey != "." {
			value = fields{reference.ProviderKey: "nowhere", reference.ResourceKey: "a"}
		}
		wrong := fields{"providers": faiss, "settings": fields{section: fields{key: value}}}
		what := n.nextTo(fields{"providers": faiss}, wrong, func(config fields) { at(config, section)[key] = value })
		if reference.ProviderKey == "." {
			n.choice("reference/"+reference.Path, Taken, "A request to create a vector store without a provider would fail.", what)
			continue
		}
		n.refused("reference/"+reference.Path, "nowhere|not found|does not", what)
	}
	n.modelSettings()
	n.families()
	n.listedNames()
	n.served()
	n.otherType()
}

// otherType adds a key of another type than the chosen one.
func (n *negatives) otherType() {
	if n.rel.Runtime.HealthNeedsToken || !n.rel.TopLevel.HasPath("server.auth.provider_config.github_api_base_url") {
		return
	}
	auth := func(more fields) fields {
		provider := fields{"type": "custom", "endpoint": "http://auth.example/check"}
		maps.Copy(provider, more)
		return fields{"settings": fields{"server": fields{"auth": fields{"provider_config": provider}}}}
	}
	more := fields{"github_api_base_url": "http://github.example"}
	n.ignored("section/key-of-another-type", n.nextTo(auth(nil), auth(more), func(config fields) {
		maps.Copy(at(config, "server", "auth", "provider_config"), more)
	}))
}

// modelSettings adds settings that name a model of another type, of an inactive provider, or under another name.
func (n *negatives) modelSettings() {
	for _, reference := range n.rel.References {
		if reference.ModelType == "" {
			continue
		}
		other := "embedding"
		if reference.ModelType == other {
			other = "llm"
		}
		typed := func(modelType string) any {
			model := fields{"name": "b", "providerModelId": "x", "modelType": modelType}
			if modelType == "embedding" {
				model["metadata"] = fields{"embedding_dimension": 8}
			}
			return model
		}
		resource, _ := n.rel.Resource(reference.Resource)
		public := strings.TrimPrefix(resource.Public("b", "vllm", "x"), "vllm/")
		n.modelSetting("type", reference, typed(other), "vllm", public, false)
		name := "x"
		if public == "x" {
			name = "b"
		}
		n.modelSetting("other-name", reference, typed(reference.ModelType), "vllm", name, n.lists(reference.ModelType, name))
		n.modelSetting("not-registered", reference, typed(reference.ModelType), "vllm", "nobody-has-it", n.lists(reference.ModelType, "nobody-has-it"))
		n.modelSetting("inactive", reference, typed(reference.ModelType), "off", "a", false)
	}
}

// lists reports whether vLLM can list a model of a type under a name.
func (n *negatives) lists(modelType, name string) bool {
	kind, _ := n.rel.Provider("inference", "remote::vllm")
	return kind.Lists.May(modelType, name)
}

// modelSetting adds a setting that names a model, over a base with a provider that no variable enables.
func (n *negatives) modelSetting(
	name string, reference release.Reference, model any, providerID, named string, unsure bool,
) {
	base := n.base(func(config fields) {
		addProvider(config, "inference", fields{
			"provider_id": "${env.NOWHERE_URL:+off}", "provider_type": "remote::vllm",
			"config": maps.Clone(configOf(config, "inference")),
		})
	})
	keys := strings.Split(reference.Path, ".")
	value := fields{reference.ProviderKey: providerID, reference.ResourceKey: named}
	settings := fields{}
	at(settings, keys[:len(keys)-1]...)[keys[len(keys)-1]] = value
	models := fields{"models": []any{model}}
	what := mistake{
		right: n.over(base, n.smallSpec(fields{"resources": models})),
		wrong: n.over(base, n.smallSpec(fields{"resources": models, "settings": settings})),
		change: func(config fields) {
			at(config, keys[:len(keys)-1]...)[keys[len(keys)-1]] = value
		},
	}
	name = "reference/model/" + name + "/" + reference.Path
	switch {
	case !reference.CheckedAtStart:
		n.choice(name, Taken, "Requests that use the setting would fail.", what)
	case unsure:
		n.choice(name, Unasked, "A provider might list a model with this name. Only the running server can determine this.", what)
	default:
		n.refused(name, "not found", what)
	}
}

// families adds references to a backend of the other family.
func (n *negatives) families() {
	if n.rel.Storage.Inline {
		return
	}
	if n.has("server.quota") {
		quota := func(backend string) fields {
			store := fields{"namespace": "quota", "backend": backend}
			return fields{"settings": fields{"server": fields{"quota": fields{"kvstore": store}}}}
		}
		n.choice("storage/family/quota", Taken, "The server starts, and answers no request, not even those of the probes.",
			n.nextTo(quota("kv_default"), quota("sql_default"), func(config fields) {
				at(config, "server", "quota", "kvstore")["backend"] = "sql_default"
			}))
	}
	for _, reference := range []struct{ api, kind, key, backend string }{
		{"vector_io", "inline::faiss", "persistence", "sql_default"},
		{"files", "inline::localfs", "metadata_store", "kv_default"},
	} {
		kind, ok := n.rel.Provider(reference.api, reference.kind)
		if !ok {
			continue
		}
		of := func(backend string) fields {
			store := fields{"namespace": "x", "table_name": "x", "backend": backend}
			if reference.api == "files" {
				delete(store, "namespace")
			} else {
				delete(store, "table_name")
			}
			config := fields{reference.key: store}
			if _, ok := kind.Config.Key("storage_dir"); ok {
				config["storage_dir"] = "/tmp/files"
			}
			return fields{"providers": fields{
				"inference": n.vllm(nil), intent.APIField(reference.api): fields{"id": "own", "provider": reference.kind, "settings": config},
			}}
		}
		right := map[string]string{"sql_default": "kv_default", "kv_default": "sql_default"}[reference.backend]
		change := func(config fields) { at(configOf(config, reference.api), reference.key)["backend"] = reference.backend }
		n.refused("storage/family/"+reference.api, "Unknown|backend|"+reference.backend,
			n.nextTo(of(right), of(reference.backend), change))
	}
}

// listedNames adds entries whose names the provider lists for the model of another entry.
func (n *negatives) listedNames() {
	if known, _ := n.rel.Resource("models"); !known.ListedAgain {
		return
	}
	models := func(all ...any) fields { return fields{"resources": fields{"models": all}} }
	alias := func(name, own string) fields { return fields{"name": name, "providerModelId": own} }
	add := func(model fields) func(fields) {
		return func(config fields) {
			model["provider_id"] = "vllm"
			registerIn(config, n.section(), "models", model)
		}
	}
	first := len(n.all)
	swap := func(config fields) { slices.Reverse(n.registered(config)["models"].([]any)) }
	n.refused("model/and-an-alias-after-it", "already exists",
		n.nextTo(models(alias("b", "a"), "a"), models("a", alias("b", "a")), swap))
	n.refused("model/alias-that-is-another-model", "already exists",
		n.nextTo(models(alias("c", "b")), models(alias("c", "b"), alias("b", "a")),
			add(fields{"model_id": "b", "provider_model_id": "a"})))
	two := fields{"inference": []any{n.vllm(nil), n.vllm(fields{"id": "second"})}}
	n.choice("model/alias-that-another-provider-has", Unasked, "The provider might not list the model. Only the running server can determine this.",
		mistake{right: n.small, wrong: n.own(n.smallSpec(fields{"providers": two, "resources": fields{"models": []any{
			fields{"name": "b", "provider": "second"}, fields{"name": "b", "provider": "vllm", "providerModelId": "a"},
		}}}))})
	for i := first; i < len(n.all); i++ {
		n.all[i].Listed = true
	}
}

// served adds models that their provider does not serve, or knows by another name, and a provider without an address.
func (n *negatives) served() {
	own := fields{"inference": fields{"id": "own", "provider": "sentence-transformers"}}
	model := func(model any) fields {
		return fields{"providers": own, "resources": fields{"models": []any{model}}}
	}
	n.choice("model/of-another-type-than-the-first-provider", Unasked, "Every request for the model would fail.",
		mistake{right: n.small, wrong: n.own(n.smallSpec(model("a")))})
	n.choice("model/of-a-provider-for-another-type", Unasked, "Every request for the model would fail.",
		mistake{right: n.small, wrong: n.own(n.smallSpec(model(fields{"name": "a", "provider": "own"})))})
	n.choice("model/with-the-provider-in-its-name", Unasked, "A provider might have a model with this name. Only the running server can determine this.",
		n.inSpec(fields{"resources": fields{"models": []any{"vllm/a"}}}, nil))
	if kind, ok := n.rel.Provider("inference", "remote::azure"); ok && kind.EndpointNeeded {
		azure := fields{"id": "azure", "provider": "azure", "apiKey": ref("key", "key")}
		n.choice("provider/without-an-address", Unasked, "Requests that use the provider would fail.",
			mistake{right: n.small, wrong: n.own(n.smallSpec(fields{"providers": fields{"inference": azure}}))})
	}
	if n.rel.Tools.MCP == "tool_groups" {
		mcp := fields{"inference": n.vllm(nil), "toolRuntime": fields{"id": "mcp", "provider": "model-context-protocol"}}
		tool := func(more fields) fields {
			more["name"] = "mcp::a"
			return fields{"providers": mcp, "resources": fields{"tools": []any{more}}}
		}
		change := func(config fields) {
			registerIn(config, n.section(), "tool_groups", fields{"toolgroup_id": "mcp::a", "provider_id": "mcp"})
		}
		n.refused("tool/mcp-without-an-address", "mcp_endpoint", n.nextTo(fields{"providers": mcp}, tool(fields{}), change))
	}
}
