package corpus

import (
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// bases adds bases that are not valid configurations.
func (n *negatives) bases() {
	text := func(name, raw, says string) {
		n.refused("base/"+name, says, mistake{wrong: n.over([]byte(raw), n.again()), right: n.small, raw: raw})
	}
	small := string(n.config)
	text("no-yaml", "a: }\n"+small, "parsing")
	text("indented-with-a-tab", "a:\n\tb: 1\n"+small, "cannot start any token")
	text("two-documents", small+"---\n"+small, "single document")
	text("tag", "a: !!python/tuple [1]\n"+small, "could not determine a constructor")
	text("no-mapping", "- version: 2\n", "list|dict|mapping|str")
	text("merge-of-a-text", "a: {<<: text}\n"+small, "expected a mapping")
	n.refused("base/section-of-another-kind", "list|dict|mapping|items", n.inBase(func(config fields) { config["providers"] = []any{} }))
	raw := strings.Replace(small, "version: 2\n", "", 1)
	numberless := mistake{wrong: n.over([]byte("version: [2]\n"+raw), n.again()), right: n.small, raw: "version: [2]\n" + raw}
	if release.Compare(n.rel.Line, "1.0") < 0 {
		n.refused("base/version-that-is-no-number", "version", numberless)
	} else {
		n.choice("base/version-that-is-no-number", Taken, "The requirements list the supported versions (FR-028).", numberless)
	}
}

// variables adds references to unset variables.
func (n *negatives) variables() {
	n.refused("variable/unset", "NOWHERE", n.inBase(func(config fields) { config["external_apis_dir"] = "${env.NOWHERE}" }))
	n.refused("variable/unset-in-settings", "NOWHERE", n.inVLLM(fields{"settings": fields{"max_tokens": "${env.NOWHERE}"}},
		func(config fields) { config["max_tokens"] = "${env.NOWHERE}" }))
	n.refused("variable/default-of-the-wrong-type", "max_tokens",
		n.inVLLM(fields{"settings": fields{"max_tokens": "${env.NOWHERE:=}"}},
			func(config fields) { config["max_tokens"] = "${env.NOWHERE:=}" }))
	n.choice("variable/lowercase", Taken, "The server uses the reference as plain text, because the name is in lower case.",
		n.inSpec(fields{"settings": fields{"external_apis_dir": "${env.dir}"}}, nil))
	n.choice("variable/from-elsewhere", Unasked, "Until the pod starts, the operator cannot determine whether envFrom sets the variable.", n.inSpec(fields{
		"settings": fields{"external_apis_dir": "${env.NOWHERE}"},
		"workload": fields{"overrides": fields{"envFrom": []any{fields{"configMapRef": fields{"name": "more"}}}}},
	}, nil))
}

// apis adds mistakes with APIs that the release does not have, or that no provider serves.
func (n *negatives) apis() {
	list := func(api string) func(fields) {
		return func(config fields) { config["apis"] = []any{"inference", api} }
	}
	n.refused("api/unknown", "nonsense", n.inBase(list("nonsense")))
	for _, gone := range n.rel.Removed {
		if _, known := n.rel.API(gone.Name); gone.Kind == "api" && !known {
			n.refused("api/gone", gone.Name, n.inBase(list(gone.Name)))
			break
		}
	}
	for _, name := range n.rel.APIs() {
		if api, _ := n.rel.API(name); api.NeedsProvider {
			n.refused("api/without-a-provider", name, n.inBase(list(name)))
			break
		}
	}
	entry := []any{fields{"provider_id": "mine", "provider_type": "inline::mine"}}
	n.refused("api/unknown-with-providers", "nonsense", n.inBase(func(config fields) { at(config, "providers")["nonsense"] = entry }))
	n.refused("api/of-the-server-with-providers", "inspect", n.inBase(func(config fields) { at(config, "providers")["inspect"] = entry }))
	n.apisOfOthers()
}

// apisOfOthers adds providers of APIs that only other releases have.
func (n *negatives) apisOfOthers() {
	shown := map[string]bool{}
	for _, name := range release.KnownAPIs() {
		field := intent.APIField(name)
		if api, known := n.rel.API(name); field == "" || known && api.Providable {
			continue
		}
		check := "provider/api-of-another-release"
		if slices.ContainsFunc(n.rel.Removed, func(r release.Removal) bool { return r.Kind == "api" && r.Name == name }) {
			check = "provider/api-that-is-gone"
		}
		if shown[check] {
			continue
		}
		shown[check] = true
		more := n.smallSpec(nil)["providers"].(fields)
		more[field] = fields{"id": "mine", "provider": "inline::mine"}
		n.refused(check, name, n.inSpec(fields{"providers": more}, func(config fields) {
			addProvider(config, name, fields{"provider_id": "mine", "provider_type": "inline::mine"})
		}))
	}
}

// dependencies adds stacks that disable an API that a provider needs, or that need an API for which the engine cannot
// supply a provider.
func (n *negatives) dependencies() {
	search := "file-search"
	if _, ok := n.rel.Provider("tool_runtime", "inline::"+search); !ok {
		search = "rag-runtime"
	}
	// In the correct stack, the engine supplies every API that this provider needs.
	providers := fields{"inference": n.vllm(nil), "toolRuntime": fields{"provider": search}}
	const why = "The user disables an API that another part of the stack needs, and the server would not start."
	n.choice("dependency/disabled", Unasked, why, mistake{
		wrong: n.listed(fields{"providers": providers, "disabled": []any{"vectorIo"}}),
		right: n.listed(fields{"providers": providers}),
	})
	with := func(resources fields) mistake {
		base := n.base(func(config fields) {
			addProvider(config, "tool_runtime", fields{"provider_id": "search", "provider_type": "inline::" + search})
			addProvider(config, "tool_runtime", fields{"provider_id": "mcp", "provider_type": "remote::model-context-protocol"})
		})
		spec := n.again()
		spec["disabled"], spec["resources"] = []any{"vectorIo"}, resources
		return mistake{wrong: n.over(base, spec), right: n.small}
	}
	n.choice("dependency/disabled-in-the-base", Unasked, why, with(fields{"tools": []any{"rag"}}))
	n.choice("dependency/disabled-with-every-provider", Unasked, why, mistake{
		wrong: n.listed(fields{
			"providers": providers, "disabled": []any{"vectorIo"},
			"resources": fields{"tools": []any{"rag"}},
		}),
		right: n.listed(fields{"providers": providers}),
	})
	if guard, ok := n.rel.Provider("safety", "inline::llama-guard"); ok {
		n.choice("dependency/disabled-with-a-resource", Unasked, why, mistake{
			wrong: n.listed(fields{
				"providers": fields{"safety": fields{"provider": guard.Type}}, "disabled": []any{"inference"},
				"resources": fields{"shields": []any{"a"}},
			}), right: n.small,
		})
	}
	for _, api := range n.rel.APIs() {
		for _, name := range n.rel.ProviderTypes(api) {
			kind, _ := n.rel.Provider(api, name)
			if Heavy(kind) == "" && slices.ContainsFunc(kind.Requires, n.cannotBeSupplied) {
				n.needy(api, name)
				return
			}
		}
	}
}

// cannotBeSupplied reports whether the engine cannot supply a provider for an API of the release, because the API has
// no inline types. It returns false for an internal API and for an API with a router.
func (n *negatives) cannotBeSupplied(api string) bool {
	known, ok := n.rel.API(api)
	return ok && !known.Internal && known.RoutingTable == "" && known.Router == "" &&
		!slices.ContainsFunc(n.rel.ProviderTypes(api), func(name string) bool { return strings.HasPrefix(name, "inline::") })
}

func (n *negatives) needy(api, name string) {
	kind, _ := n.rel.Provider(api, name)
	v := &values{}
	providers := fields{"inference": n.vllm(nil), intent.APIField(api): v.provider(kind, "", minimal)}
	n.refused("dependency/missing", "required dependency|depend",
		n.inSpec(fields{"providers": providers}, func(config fields) {
			entry := fields{"provider_id": kind.Short(), "provider_type": kind.Type, "config": fields{}}
			addProvider(config, api, entry)
		}))
}

// disabled adds mistakes in spec.disabled: names that cannot be disabled, and entries without effect.
func (n *negatives) disabled() {
	off := func(what ...any) fields { return fields{"disabled": what} }
	none := mistake{right: n.small}
	with := func(spec fields) mistake {
		m := none
		m.wrong = n.own(n.smallSpec(spec))
		return m
	}
	n.choice("disabled/of-no-release", Unasked, "A misspelled name disables nothing, and the user would not notice the mistake.", with(off("infrence")))
	n.choice("disabled/part-of-an-API", Unasked, "The inference router serves the models, so this part of the API cannot be disabled separately.", with(off("models")))
	n.choice("disabled/of-the-server", Unasked, "The server always serves this API, which needs no provider, and has no setting to disable it.", with(off("inspect")))
	n.choice("disabled/provider-that-is-not-there", Unasked, "The stack does not contain the part that the entry would remove, so nothing changes. The warning points out a possible typo.",
		with(off("inference/nowhere")))
	n.choice("disabled/wildcard-for-nothing", Unasked, "The stack does not contain the part that the entry would remove, so nothing changes. The warning points out a possible typo.",
		with(off("inference/*")))
	n.choice("disabled/and-configured", Unasked, "Two fields contradict each other, and spec.disabled takes precedence.",
		with(fields{
			"providers": fields{"inference": []any{n.vllm(nil), fields{"id": "other", "provider": "openai"}}},
			"disabled":  []any{"inference/other"},
		}))
	n.choice("disabled/and-named-by-a-model", Unasked, "No provider would serve the model.",
		with(fields{
			"providers": fields{"inference": []any{n.vllm(nil), fields{"id": "other", "provider": "openai"}}},
			"disabled":  []any{"inference/other"},
			"resources": fields{"models": []any{fields{"name": "a", "provider": "other"}}},
		}))
	for _, api := range release.KnownAPIs() {
		if _, known := n.rel.API(api); !known && (api != "telemetry" || n.rel.Runtime.TelemetrySwitch == "") {
			n.choice("disabled/of-another-release", Unasked, "The release does not have the API, so there is nothing to disable.", with(off(api)))
			break
		}
	}
}
