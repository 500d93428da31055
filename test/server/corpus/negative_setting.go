package corpus

import (
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// sections adds mistakes outside providers and storage.
func (n *negatives) sections() {
	server := func(key string, value any) mistake {
		return n.inSpec(fields{"settings": fields{"server": fields{key: value}}}, func(config fields) { at(config, "server")[key] = value })
	}
	n.refused("server/port", "port", n.inSpec(fields{"networking": fields{"port": 80}}, func(config fields) { at(config, "server")["port"] = 80 }))
	n.refused("server/wrong-type", "auth", server("auth", "none"))
	n.ignored("server/unknown-key", server("hst", "a"))
	n.ignored("section/unknown-key", n.inSpec(fields{"settings": fields{"qwertzuiop": fields{"a": 1}}},
		func(config fields) { config["qwertzuiop"] = fields{"a": 1} }))
	for _, gone := range n.rel.Removed {
		if section, key, nested := strings.Cut(gone.Name, "."); gone.Kind == "section" && !storesAndResources(gone.Name) {
			value := any(fields{"enabled": true})
			patch := fields{gone.Name: value}
			if nested {
				patch = fields{section: fields{key: value}}
			}
			n.ignored("section/that-is-gone/"+gone.Name, n.inSpec(fields{"settings": patch}, nil))
		}
	}
	for _, path := range []string{
		"vector_stores.default_provider_id", "safety.default_shield_id", "server.tenancy",
		"server.cors",
	} {
		if lines := release.LinesWithKey(path, nil); len(lines) == 0 || n.has(path) || n.gone(path) {
			continue
		}
		section, key, _ := strings.Cut(path, ".")
		patch := fields{section: fields{key: "text"}}
		n.ignored("section/of-another-release/"+path, n.inSpec(fields{"settings": patch}, nil))
	}
	n.serverRules()
}

// has reports whether the release reads a key at the top level or in a section.
func (n *negatives) has(path string) bool {
	section, name, nested := strings.Cut(path, ".")
	key, ok := n.rel.TopLevel.Key(section)
	if !ok || !nested {
		return ok
	}
	class := classOf(key.Type)
	if class == nil {
		return true
	}
	_, ok = class.Key(name)
	return ok
}

func (n *negatives) gone(path string) bool {
	section, _, _ := strings.Cut(path, ".")
	for _, gone := range n.rel.Removed {
		if gone.Kind == "section" && (gone.Name == path || gone.Name == section) {
			return true
		}
	}
	return false
}

// storesAndResources reports whether a section is for stores or resources. The fields of the spec write such a section,
// so settings must not write it.
func storesAndResources(name string) bool {
	for _, owned := range []string{
		"models", "shields", "tool_groups", "vector_dbs", "datasets", "scoring_fns",
		"benchmarks", "_store",
	} {
		if strings.HasSuffix(name, owned) {
			return true
		}
	}
	return false
}

// serverRules adds violations of rules about several keys in a section.
func (n *negatives) serverRules() {
	rule := func(name, says string, section fields) {
		n.refused("server/rule/"+name, says, n.inSpec(fields{"settings": fields{"server": section}}, func(config fields) {
			maps.Copy(at(config, "server"), section)
		}))
	}
	if !n.has("server.auth") {
		return
	}
	custom := fields{"type": "custom", "endpoint": "http://auth.example/check"}
	auth := func(policy fields) fields {
		return fields{"auth": fields{"provider_config": custom, "access_policy": []any{policy}}}
	}
	read := fields{"actions": []any{"read"}}
	if key, _ := n.rel.Server.Key("auth"); classOf(key.Type) != nil {
		if _, known := classOf(key.Type).Key("provider_config"); known {
			rule("any-of", "permit|forbid", auth(fields{"when": "user is owner"}))
			rule("exclusive", "permit|forbid", auth(fields{"permit": read, "forbid": read}))
			rule("pattern", "", auth(fields{"permit": read, "when": "at night"}))
			rule("choice", "type", fields{"auth": fields{"provider_config": fields{"type": "nonsense"}}})
			rule("missing-key", "endpoint", fields{"auth": fields{"provider_config": fields{"type": "custom"}}})
			n.accessRules(auth)
		}
	}
	if n.has("server.cors") {
		rule("never", "", fields{"cors": fields{"allow_origins": []any{"*"}, "allow_credentials": true}})
	}
	if n.has("server.tls_config") {
		n.refused("server/rule/limit-of-a-value", "cipher", n.inBase(func(config fields) {
			maps.Copy(at(config, "server"), fields{
				"tls_certfile": "/etc/hosts", "tls_keyfile": "/etc/hosts",
				"tls_config": fields{"ciphers": []any{"RC4"}},
			})
			delete(at(config, "server"), "insecure") // the setting insecure disables the check
		}))
	}
}

// accessRules adds rules that apply to no resource, or not to all names of a model.
func (n *negatives) accessRules(auth func(policy fields) fields) {
	if n.rel.Runtime.HealthNeedsToken {
		return
	}
	with := func(resource string, model any) mistake {
		return mistake{right: n.small, wrong: n.own(n.smallSpec(fields{
			"resources": fields{"models": []any{model}},
			"settings":  fields{"server": auth(fields{"forbid": fields{"actions": []any{"read"}, "resource": resource}})},
		}))}
	}
	const none = "The server does not check that a rule applies to a resource, so the rule would have no effect."
	n.choice("access-rule/without-a-type", Taken, none, with("vllm/a", "a"))
	n.choice("access-rule/of-no-model", Taken, none, with("model::nowhere/a", "a"))
	n.choice("access-rule/name-in-the-spec", Taken, none, with("model::a", "a"))
	if known, _ := n.rel.Resource("models"); known.Public("b", "vllm", "x") == "vllm/b" {
		n.choice("access-rule/another-name", Taken, "Each name of a model is a resource, and the rule applies to one of them.",
			with("model::vllm/x", fields{"name": "b", "providerModelId": "x"}))
	}
}

// settings adds patches in spec.settings and spec.removeSettings that are not allowed.
func (n *negatives) settings() {
	with := func(more fields) mistake { return mistake{wrong: n.own(n.smallSpec(more)), right: n.small} }
	twice := "Two fields contradict each other, and it is unclear which of them the user intends."
	n.choice("setting/of-a-field", Unasked, twice, with(fields{"settings": fields{"server": fields{"port": 9000}}}))
	n.choice("setting/removes-what-a-field-set", Unasked, twice, with(fields{"removeSettings": []any{"server.port"}}))
	n.choice("setting/removes-what-is-not-there", Unasked, "The stack does not contain the part that the entry would remove, so nothing changes. The warning points out a possible typo.",
		with(fields{"removeSettings": []any{"server.prt"}}))
	n.choice("setting/removes-like-nothing-there", Unasked, "The stack does not contain the part that the entry would remove, so nothing changes. The warning points out a possible typo.",
		with(fields{"removeSettings": []any{"qwertzuiop"}}))
	list := n.m.nothing() + "server: {auth: {provider_config: {type: github_token}, access_policy: []}}\n"
	n.choice("setting/removes-a-part-of-a-list", Unasked, "The entries of a list have no keys, so a path cannot refer to them.", mistake{
		wrong: n.over([]byte(list), n.smallSpec(fields{"removeSettings": []any{"server.auth.access_policy.permit"}})),
		right: n.small,
	})
	if n.rel.Runtime.TelemetrySwitch != "" {
		n.choice("setting/removes-what-is-disabled", Unasked, twice, with(fields{
			"disabled": []any{"telemetry"}, "removeSettings": []any{n.rel.Runtime.TelemetrySwitch},
		}))
	}
	n.choice("setting/credential-in-clear-text", Taken, "A user who can read ConfigMaps could read the credential.", with(fields{"settings": fields{
		"server": fields{"auth": fields{"provider_config": fields{
			"type": "custom", "endpoint": "http://auth.example/check",
			"client_secret": "x",
		}}},
	}}))
	if n.rel.Runtime.HealthNeedsToken {
		n.choice("setting/authentication", Taken, "The server starts, but its health check requires a token, which the probes do not send.", with(fields{"settings": fields{
			"server": fields{"auth": fields{"provider_config": fields{
				"type":     "custom",
				"endpoint": "http://auth.example/check",
			}}},
		}}))
	}
	if _, known := n.rel.Server.Key("workers"); !known {
		n.choice("server/workers", Unasked, "The release always runs one process.",
			with(fields{"workload": fields{"workers": 2}}))
	}
	n.choice("setting/log-levels", Taken, "The server's class has the key, but the server does not use it.", with(fields{"settings": fields{"logging": fields{"level": "debug"}}}))
	if key, ok := n.rel.TopLevel.Key("server"); ok && !key.Required {
		base := strings.Replace(n.m.nothing(), "providers: {}", "providers: {}\nserver: {auth: {provider_config: {type: custom, endpoint: http://auth.example/check}}}", 1)
		wrong, right := n.smallSpec(fields{"removeSettings": []any{"server.auth.provider_config.endpoint"}}), n.smallSpec(nil)
		if n.has("server.auth") && !n.rel.Runtime.HealthNeedsToken {
			n.refused("setting/removes-what-is-required", "endpoint", mistake{
				wrong: n.over([]byte(base), wrong), right: n.over([]byte(base), right),
				change: func(config fields) { delete(at(config, "server", "auth", "provider_config"), "endpoint") },
			})
		}
	}
}

// probes adds settings with which the server rejects its pod's probes, or does not verify a certificate.
func (n *negatives) probes() {
	server := func(section string, value fields) mistake {
		return mistake{
			wrong: n.own(n.smallSpec(fields{"settings": fields{"server": fields{section: value}}})),
			right: n.small,
		}
	}
	custom := fields{"type": "custom", "endpoint": "http://auth.example/check"}
	if n.rel.TopLevel.HasPath("server.auth.route_policy") {
		n.choice("probe/no-rule-for-it", Taken, "The server starts, but responds to the probes with 403.",
			server("auth", fields{
				"provider_config": custom, "route_policy": []any{fields{"permit": fields{"paths": "/v1/models*"}}},
			}))
	}
	if n.rel.TopLevel.HasPath("server.quota") {
		store := fields{"backend": "kv_default", "namespace": "quota"}
		n.choice("probe/uses-up-the-quota", Unasked, "The server starts, but responds to the probes with 429 after a few minutes.",
			server("quota", fields{"kvstore": store}))
		n.choice("probe/uses-up-a-larger-quota", Unasked, "The server starts, but responds to the probes with 429 after a few hours.",
			server("quota", fields{"kvstore": store, "anonymous_max_requests": 8640}))
	}
	if n.rel.Runtime.IntrospectionUnverified {
		n.choice("auth/introspection-without-verification", Unasked, "The server starts, but does not verify the certificate.", server("auth", fields{
			"provider_config": fields{
				"type": "oauth2_token", "audience": "a", "issuer": "https://sso.example",
				"introspection": fields{
					"url": "https://sso.example/introspect", "client_id": "c",
					"client_secret": "${env.SECRET:=none}",
				},
			},
		}))
	}
}

// ownChoices adds values that the checks reject, although the server accepts or never receives them.
func (n *negatives) ownChoices() {
	with := func(more fields) mistake { return mistake{wrong: n.own(n.smallSpec(more)), right: n.small} }
	inference := func(all ...any) fields { return fields{"providers": fields{"inference": all}} }
	text := func(raw string) mistake {
		return mistake{wrong: n.over([]byte(raw), n.again()), right: n.small, raw: raw}
	}
	n.choice("own/duplicate-id", Taken, "The server uses the second of the two values, and does not report this.", mistake{
		wrong: n.own(n.smallSpec(inference(n.vllm(nil), n.vllm(fields{"endpoint": "http://other.example"})))), right: n.small,
		change: func(config fields) { addProvider(config, "inference", firstProvider(config, "inference")) },
	})
	n.choice("own/duplicate-id-in-the-base", Taken, "The server uses the second of the two values, and does not report this. The user might be unable to change the base.",
		n.inBase(func(config fields) { addProvider(config, "inference", firstProvider(config, "inference")) }))
	n.choice("own/folded-names", Unasked, "Two ids that differ only in '-' and '.' would share one variable for their credentials.", with(inference(
		fields{"id": "a-b", "provider": "openai", "apiKey": ref("one", "key")},
		fields{"id": "a.b", "provider": "openai", "apiKey": ref("two", "key")})))
	n.choice("own/id-needed", Unasked, "If there are several providers, a model refers to its provider by ID.", with(inference(
		fields{"provider": "vllm", "endpoint": "http://a.example"}, fields{"provider": "openai"})))
	n.choice("own/key-set-twice", Unasked, "It is unclear which of the two values the user intends.",
		with(inference(n.vllm(fields{"settings": fields{
			n.endpointKey(): "http://other.example/v1",
		}}))))
	n.choice("own/credential-in-clear-text", Taken, "A user who can read ConfigMaps could read the credential.", with(inference(n.vllm(fields{"settings": fields{"api_token": "x"}}))))
	n.choice("own/endpoint-with-a-password", Unasked, "A user who can read ConfigMaps could read the password.", with(inference(n.vllm(fields{"endpoint": "http://me:pw@vllm.example"}))))
	n.endpoint()
	search := func(endpoint, providerType string) fields {
		return fields{"providers": fields{
			"inference": n.vllm(nil),
			"vectorIo": fields{
				"provider": providerType, "endpoint": endpoint, "apiKey": ref("db", "password"),
				"settings": fields{"db": "d", "user": "u"},
			},
		}}
	}
	n.choice("own/host-and-port", Taken, "The server's class accepts any text as a host, but the connection would fail.", with(search("http://db.example:5432", "pgvector")))
	n.choice("own/endpoint-with-a-space", Taken, "The server's class accepts any text, but the connection would fail.", with(fields{"providers": fields{
		"inference": n.vllm(nil), "vectorIo": fields{"provider": "weaviate", "endpoint": "a b", "apiKey": ref("db", "key")},
	}}))
	n.choice("own/endpoint-with-a-user", Unasked, "A user who can read ConfigMaps could read the password.", with(fields{"providers": fields{
		"inference": n.vllm(nil), "vectorIo": fields{
			"provider": "weaviate", "endpoint": "me@weaviate.example:8080",
			"apiKey": ref("db", "key"),
		},
	}}))
	n.choice("own/base-version", Taken, "The requirements list the supported versions (FR-028, FR-029). The server accepts any number.",
		n.inBase(func(config fields) { config["version"] = 3 }))
	if key := n.rel.Runtime.DistributionKey; key != "" {
		n.choice("own/base-name-that-is-a-number", Taken, "For this key, the server converts the number to text. With quotes, every parser reads the name as text.",
			n.inBase(func(config fields) { config[key] = 5 }))
	}
	small := string(n.config)
	n.choice("own/base-key-twice", Taken, "The server uses the second of the two values, and does not report this.", text("version: 2\n"+small))
	n.choice("own/base-key-that-is-no-text", Unasked, "A configuration key cannot be a list.", text("? [a]\n: 1\n"+small))
	n.choice("own/base-empty", Unasked, "An empty base is a mistake, because it contains nothing to serve.", text("\n"))
	n.choice("own/base-too-large", Unasked, "A larger base might not fit into a ConfigMap together with its metadata.", text("a: "+strings.Repeat("x", 800<<10)))
	n.choice("own/base-too-deep", Unasked, "No value in a server configuration is nested so deeply, and the limit protects the operator's memory.", text(strings.Repeat("{a: ", 120)+"1"+strings.Repeat("}", 120)))
	n.choice("own/base-of-aliases", Unasked, "Nested aliases could use all of the operator's memory.", text(aliases()))
}

// endpoint adds an endpoint that is not a URL.
func (n *negatives) endpoint() {
	what := n.inVLLM(fields{"endpoint": "vllm"}, func(config fields) { config[n.endpointKey()] = "vllm" })
	kind, _ := n.rel.Provider("inference", "remote::vllm")
	if key, _ := kind.Config.Key(kind.EndpointKey); len((&key).Check(&yaml.Node{
		Kind: yaml.ScalarNode, Tag: "!!str",
		Value: "vllm",
	})) > 0 {
		n.refused("provider/endpoint-that-is-no-url", kind.EndpointKey, what)
		return
	}
	n.choice("own/endpoint-that-is-no-url", Taken, "The server's class accepts any text, but each request would fail.", what)
}

// endpointKey returns the release's key for the vLLM endpoint.
func (n *negatives) endpointKey() string {
	kind, _ := n.rel.Provider("inference", "remote::vllm")
	return kind.EndpointKey
}

// aliases returns a string of seven lines whose YAML aliases expand to ten million values.
func aliases() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n")
	for i := '1'; i <= '6'; i++ {
		previous := "*a" + string(i-1) + ", "
		b.WriteString("a" + string(i) + ": &a" + string(i) + " [" + strings.TrimSuffix(strings.Repeat(previous, 10), ", ") + "]\n")
	}
	return b.String()
}
