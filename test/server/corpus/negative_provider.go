package corpus

import (
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// types returns the provider types of the line.
func (n *negatives) types() []*provider.Type {
	var types []*provider.Type
	for _, api := range n.rel.APIs() {
		for _, name := range n.rel.ProviderTypes(api) {
			kind, _ := n.rel.Provider(api, name)
			types = append(types, kind)
		}
	}
	return types
}

// first returns the first type for which the function `has` returns true, or nil if there is no such type.
func (n *negatives) first(has func(*provider.Type) bool) *provider.Type {
	types := n.types()
	if i := slices.IndexFunc(types, has); i >= 0 {
		return types[i]
	}
	return nil
}

// another returns the fields of the small stack with one more provider.
func (n *negatives) another(kind *provider.Type, p fields) fields {
	p["id"] = "another"
	name := intent.APIField(kind.API)
	providers := fields{"inference": []any{n.vllm(nil)}}
	list, _ := providers[name].([]any)
	providers[name] = append(list, p)
	return fields{"providers": providers}
}

// withSettings returns a mistake in the small stack: an additional provider that has these settings.
func (n *negatives) withSettings(kind *provider.Type, settings fields) mistake {
	v := &values{}
	right, wrong := v.provider(kind, "another", minimal), v.provider(kind, "another", minimal)
	all := fields{}
	if given, ok := right["settings"].(fields); ok {
		maps.Copy(all, given)
	}
	maps.Copy(all, settings)
	wrong["settings"] = all
	for field, key := range map[string]string{"endpoint": kind.EndpointKey, "apiKey": kind.CredentialKey} {
		if _, set := settings[key]; set {
			delete(wrong, field)
		}
	}
	return n.nextTo(n.another(kind, right), n.another(kind, wrong),
		func(config fields) { maps.Copy(anotherConfig(config, kind.API), settings) })
}

// anotherConfig returns the config of the provider that the method another adds.
func anotherConfig(config fields, api string) fields {
	list := at(config, "providers")[api].([]any)
	return at(list[len(list)-1].(fields), "config")
}

// providerTypes adds providers of types that the release does not have, that do not start or that are deprecated, and
// mistakes with scoring functions.
func (n *negatives) providerTypes() {
	unknown := func(check, name, providerType string) {
		n.refused(check, providerType, n.inVLLM(fields{"provider": name}, func(fields) {}))
		n.all[len(n.all)-1].change = func(config fields) {
			firstProvider(config,
				"inference")["provider_type"] = providerType
		}
	}
	unknown("provider/unknown-type", "remote::vlm", "remote::vlm")
	unknown("provider/unknown-type-like-no-other", "qwertzuiop", "remote::qwertzuiop")
	n.typesOfOthers()
	for _, gone := range n.rel.Removed {
		api, providerType, _ := strings.Cut(gone.Name, "/")
		if known, _ := n.rel.API(api); gone.Kind != "provider" || !known.Providable {
			continue
		}
		more := n.another(&provider.Type{API: api}, fields{"provider": providerType})
		n.refused("provider/type-that-is-gone", providerType, n.inSpec(more, func(config fields) {
			addProvider(config, api, fields{"provider_id": "another", "provider_type": providerType})
		}))
		break
	}
	for _, kind := range n.types() {
		if kind.Broken != "" {
			n.broken(kind)
		}
		if kind.Deprecated != "" {
			v := &values{}
			n.choice("provider/deprecated-type/"+kind.Type, Taken,
				"The type works in this release, but later releases will not have it.",
				mistake{wrong: n.own(n.smallSpec(n.another(kind, v.provider(kind, "another", minimal)))), right: n.small},
			)
		}
	}
	if kind := n.first(func(kind *provider.Type) bool { return n.isScoring(kind) && Heavy(kind) == "" }); kind != nil {
		n.scoring(kind)
	}
	for _, kind := range n.types() {
		if kind.RegistersNothing {
			n.unregistrable(kind)
		}
	}
}

// typesOfOthers adds providers whose type exists only in other releases or for other APIs.
func (n *negatives) typesOfOthers() {
	unknown := func(check, api, name, providerType string) {
		more := n.another(&provider.Type{API: api}, fields{"provider": name})
		n.refused(check, providerType, n.inSpec(more, func(config fields) {
			addProvider(config, api, fields{"provider_id": "another", "provider_type": providerType})
		}))
	}
	inBase := func(check, providerType string) {
		n.refused(check, providerType, n.inBase(func(config fields) {
			addProvider(config, "inference", fields{"provider_id": "another", "provider_type": providerType})
		}))
	}
	unknown("provider/type-of-another-api", "tool_runtime", "vllm", "remote::vllm")
	inBase("provider/unknown-type-of-the-base", "remote::qwertzuiop")
	inBase("provider/type-of-the-base-without-its-prefix", "vllm")
	if _, ok := n.rel.ResolveType("vector_io", "neo4j"); !ok {
		unknown("provider/type-of-a-later-release", "vector_io", "neo4j", "remote::neo4j")
		unknown("provider/slip-in-a-type-of-a-later-release", "vector_io", "neo4", "remote::neo4")
	}
}

// broken adds a provider of a type that never starts.
func (n *negatives) broken(kind *provider.Type) {
	v := &values{}
	p := v.provider(kind, "another", minimal)
	n.refused("provider/broken-type/"+kind.API+"/"+kind.Type, "", n.inSpec(n.another(kind, p), func(config fields) {
		entry := fields{"provider_id": "another", "provider_type": kind.Type, "config": fields{}}
		if settings, ok := p["settings"].(fields); ok {
			entry["config"] = settings
		}
		if url, ok := p["endpoint"].(string); ok {
			entry["config"].(fields)[kind.EndpointKey] = kind.Endpoint(url)
		}
		addProvider(config, kind.API, entry)
	}))
	last := &n.all[len(n.all)-1]
	n.refused("provider/broken-type-of-the-base/"+kind.API+"/"+kind.Type, "", n.inBase(last.change))
}

func (n *negatives) isScoring(kind *provider.Type) bool {
	api, _ := n.rel.API(kind.API)
	return api.RoutingTable == "scoring_functions"
}

// scoring adds two providers of one type.
func (n *negatives) scoring(kind *provider.Type) {
	if n.rel.Runtime.RegistryReplaces {
		return // the second provider replaces the first
	}
	one := n.another(kind, fields{"provider": kind.Type})
	two := n.another(kind, fields{"provider": kind.Type})
	name := intent.APIField(kind.API)
	two["providers"].(fields)[name] = append(two["providers"].(fields)[name].([]any),
		fields{"id": "second", "provider": kind.Type})
	n.refused("provider/second-of-a-type", "already exists|already registered|conflicting|scoring",
		n.nextTo(one, two, func(config fields) {
			addProvider(config, kind.API, fields{"provider_id": "second", "provider_type": kind.Type, "config": fields{}})
		}),
	)
}

// unrouted adds two providers of an API for which the server uses only one.
func (n *negatives) unrouted() {
	if _, ok := n.rel.Provider("files", "inline::localfs"); !ok {
		return
	}
	files := func(id string) fields { return fields{"id": id, "provider": "inline::localfs"} }
	n.choice("provider/second-of-an-api", Taken, "The server uses only the last provider, and does not report this.",
		mistake{
			right: n.small,
			wrong: n.own(
				n.smallSpec(fields{"providers": fields{"inference": n.vllm(nil), "files": []any{files("one"), files("two")}}}),
			),
		},
	)
}

// unregistrable adds a scoring function of a provider that does not register the scoring functions in a configuration.
func (n *negatives) unregistrable(kind *provider.Type) {
	n.refused("provider/registers-nothing/"+kind.Type, "not implemented|not allowed|autoevals|unexpected keyword",
		n.inBaseOf(
			n.own(n.smallSpec(n.another(kind, fields{"provider": kind.Type}))),
			func(config fields) {
				registerIn(config, n.section(), "scoring_fns", fields{
					"scoring_fn_id": "mine", "provider_id": "another", "description": "A function.",
					"return_type": fields{"type": "number"},
				})
			}),
	)
}

// providerKeys adds a case for each key that a type requires to start. In the case, the key is missing.
func (n *negatives) providerKeys() {
	v := &values{}
	for _, kind := range n.types() {
		if kind.Broken != "" {
			continue
		}
		defaults := map[string]bool{}
		for i := range kind.RequiredDefaults {
			defaults[kind.RequiredDefaults[i].Key] = true
		}
		for _, key := range required(kind.Config, defaults) {
			if known, _ := kind.Config.Key(key); !known.Required {
				continue // a rule requires the key, but the class does not
			}
			right, wrong := v.provider(kind, "another", minimal), v.provider(kind, "another", minimal)
			check := "provider/missing-key"
			switch settings, _ := wrong["settings"].(fields); key {
			case kind.EndpointKey:
				delete(wrong, "endpoint")
				check = "provider/missing-endpoint"
			case kind.CredentialKey:
				delete(wrong, "apiKey")
				check = "provider/missing-credential"
			case kind.PortKey:
				continue // the port is part of the endpoint
			default:
				delete(settings, key)
				if secrets, ok := wrong["secretRefs"].(fields); ok {
					delete(secrets, key)
				}
			}
			n.unsetKey(check, kind, key, right, wrong)
			n.refused(check+"/"+kind.API+"/"+kind.Type+"/"+key, key+"|[Mm]ust provide|is a required",
				n.nextTo(n.another(kind, right), n.another(kind, wrong),
					func(config fields) { delete(anotherConfig(config, kind.API), key) }))
		}
	}
	n.extraKeys()
	n.unreadFields()
	n.noCredential()
}

// unsetKey adds a mistake in the base: a provider whose key refers to a variable that is never set. One provider type
// for each field is enough.
func (n *negatives) unsetKey(check string, kind *provider.Type, key string, right, wrong fields) {
	name := strings.Replace(check, "missing", "unset", 1)
	known, _ := kind.Config.Key(key)
	if len(known.Type.Check(yamlnode.Null())) == 0 ||
		slices.ContainsFunc(n.all, func(other Negative) bool { return other.Name == name }) {
		return
	}
	base := n.base(func(config fields) {
		addProvider(config, kind.API, fields{
			"provider_id": "another", "provider_type": kind.Type, "config": fields{key: "${env.NOBODY_SETS_IT:=}"},
		})
	})
	n.refused(name, key+"|[Mm]ust provide|is a required", mistake{
		wrong:  n.over(base, n.smallSpec(n.another(kind, maps.Clone(wrong)))),
		right:  n.over(base, n.smallSpec(n.another(kind, maps.Clone(right)))),
		change: func(config fields) { anotherConfig(config, kind.API)[key] = nil },
	})
}

// noCredential adds a provider of an external service without a credential, and a provider whose credential in the base
// refers to a variable that is never set.
func (n *negatives) noCredential() {
	const why = "The server starts without a key, and calls the service with the key that a client sends, if any."
	openai, _ := n.rel.Provider("inference", "remote::openai")
	right := n.another(openai, fields{"provider": "openai", "apiKey": ref("key", "key")})
	wrong := n.another(openai, fields{"provider": "openai"})
	n.choice("provider/no-credential", Taken, why, n.nextTo(right, wrong, func(config fields) {
		delete(anotherConfig(config, "inference"), openai.CredentialKey)
	}))
	pgvector, _ := n.rel.Provider("vector_io", "remote::pgvector")
	n.choice("provider/no-password", Unasked, "The server starts, and the database then rejects the default password.",
		n.inSpec(n.another(pgvector, fields{
			"provider": "pgvector", "settings": fields{"host": "pg", "port": 5432, "db": "d", "user": "u"},
		}), nil))
	base := n.base(func(config fields) {
		addProvider(config, "inference", fields{
			"provider_id": "another", "provider_type": openai.Type,
			"config": fields{openai.CredentialKey: "${env.OPENAI_API_KEY:=}"},
		})
	})
	set := n.smallSpec(n.another(openai, fields{"provider": "openai"}))
	set["secretEnv"] = fields{"OPENAI_API_KEY": ref("key", "key")}
	n.choice("provider/no-value-for-the-credential-of-the-base", Taken, why, mistake{
		wrong: n.over(base, n.smallSpec(n.another(openai, fields{"provider": "openai"}))), right: n.over(base, set),
	})
}

// extraKeys adds settings that a provider type does not read or that are deprecated.
func (n *negatives) extraKeys() {
	n.ignored("provider/unknown-key", n.inVLLM(fields{"settings": fields{"max_token": 5}},
		func(config fields) { config["max_token"] = 5 }))
	n.ignored("provider/unknown-key-like-no-other", n.inVLLM(fields{"settings": fields{"qwertzuiop": 5}},
		func(config fields) { config["qwertzuiop"] = 5 }))
	if kind := n.first(func(kind *provider.Type) bool {
		return kind.Config.Extra == schema.ExtraForbid &&
			kind.Broken == ""
	}); kind != nil {
		n.refused("provider/unknown-key-that-is-refused", "qwertzuiop", n.withSettings(kind, fields{"qwertzuiop": 5}))
	}
	deprecated := func(kind *provider.Type) bool {
		return Heavy(kind) == "" && kind.Broken == "" && slices.ContainsFunc(kind.Config.Keys,
			func(key schema.Key) bool { return key.Deprecated })
	}
	if kind := n.first(deprecated); kind != nil {
		i := slices.IndexFunc(kind.Config.Keys, func(key schema.Key) bool { return key.Deprecated })
		key := kind.Config.Keys[i]
		if value, ok := (&values{}).of(key.Type, key.Limits, 0); ok {
			n.choice("provider/deprecated-key", Taken, "The key works in this release, but it is deprecated.",
				n.withSettings(kind, fields{key.Name: value}))
		}
	}
}

// unreadFields adds providers with spec fields for which the provider type has no key.
func (n *negatives) unreadFields() {
	noEndpoint := n.first(func(kind *provider.Type) bool {
		return kind.EndpointKey == "" && kind.API == "inference" && kind.IsRemote()
	})
	if noEndpoint != nil {
		v := &values{}
		right, wrong := v.provider(noEndpoint, "another", minimal), v.provider(noEndpoint, "another", minimal)
		wrong["endpoint"] = "http://gateway.example/v1"
		n.choice("provider/endpoint-that-is-not-read", Ignored,
			"The server would call the public service with a key for a different service.",
			n.nextTo(n.another(noEndpoint, right), n.another(noEndpoint, wrong),
				func(config fields) { anotherConfig(config, noEndpoint.API)["base_url"] = "http://gateway.example/v1" }),
		)
	}
	bedrock, _ := n.rel.Provider("inference", "remote::bedrock")
	if bedrock.CredentialKey == "" {
		n.choice("provider/credential-that-is-read-otherwise", Ignored,
			"The server would call the service without the credential, although the user names a Secret.",
			n.nextTo(n.another(bedrock, fields{"provider": "bedrock"}),
				n.another(bedrock, fields{"provider": "bedrock", "apiKey": ref("key", "key")}),
				func(config fields) { anotherConfig(config, "inference")["api_key"] = "x" }),
		)
	}
	noCredential := n.first(func(kind *provider.Type) bool {
		_, known := kind.Config.Key("api_key")
		return kind.CredentialKey == "" && !known && kind.API == "tool_runtime"
	})
	if noCredential != nil {
		right, wrong := fields{"provider": noCredential.Type},
			fields{"provider": noCredential.Type, "apiKey": ref("key", "key")}
		n.choice("provider/credential-that-is-not-read", Ignored,
			"The server would call the service without the credential, although the user names a Secret.",
			n.nextTo(n.another(noCredential, right), n.another(noCredential, wrong),
				func(config fields) { anotherConfig(config, noCredential.API)["api_key"] = "x" }),
		)
	}
	if kind := n.first(func(kind *provider.Type) bool { return kind.EndpointIgnored }); kind != nil {
		v := &values{}
		right, wrong := v.provider(kind, "another", minimal), v.provider(kind, "another", minimal)
		wrong["endpoint"] = "http://gateway.example/v1"
		n.choice("provider/endpoint-that-is-a-constant", Taken,
			"The server's class accepts the key, but the adapter always calls a fixed address.",
			n.nextTo(n.another(kind, right), n.another(kind, wrong),
				func(config fields) { anotherConfig(config, kind.API)[kind.EndpointKey] = "http://gateway.example/v1" }),
		)
	}
}
