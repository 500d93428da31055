package corpus

import (
	"maps"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// scalars adds values of the wrong type or outside the limits, one for each kind of type and limit. Sweep returns such
// values for all keys.
func (n *negatives) scalars() {
	tell := func(check, key string, value any) {
		n.refused("provider/"+check, key, n.inVLLM(fields{"settings": fields{key: value}},
			func(config fields) { config[key] = value }))
	}
	tell("wrong-type/number", "max_tokens", "many")
	tell("wrong-type/text", "api_token", 12345)
	tell("wrong-type/list", "max_tokens", []any{1})
	tell("wrong-type/reference-to-a-secret", "max_tokens", ref("numbers", "max"))
	tell("wrong-type/no-boolean", "refresh_models", "maybe")
	n.wrongURL()
	n.variableForAList()
	if kind := n.first(func(kind *provider.Type) bool {
		return kind.Type == "remote::vllm" &&
			kind.API == "inference"
	}); kind != nil {
		if _, known := kind.Config.Key("allowed_models"); known {
			tell("wrong-type/list-wanted", "allowed_models", "a")
		}
		if _, known := kind.Config.Key("network"); known {
			tell("wrong-type/mapping-wanted", "network", "none")
			n.refused("provider/rule/together", "client_cert|client_key", n.inVLLM(
				fields{"settings": fields{"network": fields{"tls": fields{"client_cert": "/etc/hosts"}}}},
				func(config fields) { config["network"] = fields{"tls": fields{"client_cert": "/etc/hosts"}} }))
			n.refused("provider/rule/exclusive", "url|proxy", n.inVLLM(
				fields{"settings": fields{"network": fields{"proxy": fields{
					"url":  "http://a.example:1",
					"http": "http://b.example:1",
				}}}},
				func(config fields) {
					config["network"] = fields{"proxy": fields{"url": "http://a.example:1", "http": "http://b.example:1"}}
				}))
		}
	}
	n.limits()
	n.nestedRule()
}

// wrongURL adds a value that is not a URL, in an endpoint that is written as a setting.
func (n *negatives) wrongURL() {
	kind, _ := n.rel.Provider("inference", "remote::vllm")
	if key, _ := kind.Config.Key(kind.EndpointKey); !takesURL(key.Type) {
		return
	}
	p := fields{"id": "vllm", "provider": "vllm", "settings": fields{kind.EndpointKey: "vllm"}}
	n.refused("provider/wrong-type/url", kind.EndpointKey, n.inSpec(fields{"providers": fields{"inference": p}},
		func(config fields) { configOf(config, "inference")[kind.EndpointKey] = "vllm" }))
}

func takesURL(expr *schema.Expr) bool {
	return expr.Kind == schema.KindURL || slices.ContainsFunc(expr.Args, takesURL)
}

// variableForAList adds a reference to a variable where the server expects a list. The value of a variable is always
// text.
func (n *negatives) variableForAList() {
	kind, ok := n.rel.Provider("safety", "inline::llama-guard")
	if !ok {
		return
	}
	set := fields{"overrides": fields{"env": []any{fields{"name": "CATEGORIES", "value": "[S1]"}}}}
	with := func(p fields) fields {
		spec := n.another(kind, p)
		spec["workload"] = set
		return spec
	}
	list := fields{"excluded_categories": "${env.CATEGORIES}"}
	n.refused("provider/wrong-type/variable-for-a-list", "excluded_categories", n.nextTo(
		with(fields{"provider": "llama-guard"}), with(fields{"provider": "llama-guard", "settings": list}),
		func(config fields) { anotherConfig(config, "safety")["excluded_categories"] = "${env.CATEGORIES}" }))
}

// limits adds a violation of each kind of limit.
func (n *negatives) limits() {
	shown := map[string]bool{}
	for _, kind := range n.types() {
		for i := range kind.Config.Keys {
			key := &kind.Config.Keys[i]
			if key.Limits == nil || key.Deprecated || kind.Broken != "" {
				continue
			}
			for name, value := range beyond(key.Limits) {
				if !shown[name] {
					shown[name] = true
					n.refused("provider/limit/"+name, "", n.withSettings(kind, fields{key.Name: value}))
				}
			}
		}
	}
}

// beyond returns values that violate limits, keyed by the name of the limit.
func beyond(limits *schema.Limits) map[string]any {
	values := map[string]any{}
	switch {
	case limits.AtLeast != nil:
		values["at-least"] = int(*limits.AtLeast) - 1
	case limits.Above != nil:
		values["above"] = int(*limits.Above)
	case limits.Pattern != "":
		values["pattern"] = "§"
	}
	switch {
	case limits.AtMost != nil:
		values["at-most"] = int(*limits.AtMost) + 1
	case limits.Below != nil:
		values["below"] = int(*limits.Below)
	}
	return values
}

// nestedRule adds a violation of a rule about two keys of a nested section: more probes than lists.
func (n *negatives) nestedRule() {
	kind, _ := n.rel.Provider("vector_io", "remote::pgvector")
	if _, known := kind.Config.Key("vector_index"); !known {
		return
	}
	index := fields{"type": "IVFFlat", "lists": 5, "probes": 9}
	n.refused("provider/rule/below", "probes|lists|nlist|nprobe", n.withSettings(kind, fields{"vector_index": index}))
}

// rules adds violations of the rules about several keys of a type.
func (n *negatives) rules() {
	shown := map[schema.RuleKind]bool{}
	for _, kind := range n.types() {
		for _, rule := range kind.Config.Rules {
			if kind.Broken != "" || shown[rule.Kind] {
				continue
			}
			if settings := against(kind.Config, rule); settings != nil {
				shown[rule.Kind] = true
				n.rule(kind, rule, settings)
			}
		}
	}
}

func (n *negatives) rule(kind *provider.Type, rule schema.Rule, settings fields) {
	check := "provider/rule-of-a-type/" + string(rule.Kind)
	if rule.Kind != schema.AnyOf {
		n.refused(check, "", n.withSettings(kind, settings))
		return
	}
	p := (&values{}).provider(kind, "another", minimal)
	wrong := fields{"provider": kind.Type, "settings": settings}
	n.refused(check, "", n.nextTo(n.another(kind, p), n.another(kind, wrong), func(config fields) {
		for _, key := range rule.Keys {
			delete(anotherConfig(config, kind.API), key)
		}
		maps.Copy(anotherConfig(config, kind.API), settings)
	}))
}

// against returns settings that violate a rule, or nil if this function cannot create such settings.
func against(class *schema.Class, rule schema.Rule) fields {
	settings := fields{}
	for i, name := range rule.Keys {
		key, _ := class.Key(name)
		switch {
		case rule.Kind == schema.Disjoint && i == 0:
			settings[name] = fields{"tenant": "X-Tenant"}
		case rule.Kind == schema.Disjoint:
			settings[name] = []any{"x-tenant"}
		case rule.Kind == schema.NotAbove || rule.Kind == schema.Below:
			settings[name] = 9 - 5*i
		case rule.Kind == schema.Together && i > 0:
		default:
			value, ok := (&values{}).of(key.Type, key.Limits, 0)
			if !ok {
				return nil
			}
			settings[name] = value
		}
	}
	for _, condition := range rule.If {
		settings[condition.Key] = condition.Value
	}
	if rule.Kind == schema.AnyOf {
		for _, name := range rule.Keys {
			delete(settings, name)
		}
	}
	return settings
}
