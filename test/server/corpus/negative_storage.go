package corpus

import (
	"errors"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/secretvalue"
)

// storage adds backends and stores that do not exist or have the wrong kind.
func (n *negatives) storage() {
	if n.rel.Storage.Inline {
		n.inlineStorage()
		return
	}
	backends := func(config fields) fields { return at(config, "storage", "backends") }
	stores := func(config fields) fields { return at(config, "storage", "stores") }
	n.refused("storage/unknown-type", "kv_nonsense|type", n.inBase(func(config fields) { at(backends(config), "kv_default")["type"] = "kv_nonsense" }))
	n.refused("storage/backend-of-the-wrong-type", "port", n.inBase(func(config fields) {
		backends(config)["another"] = fields{"type": "kv_redis", "host": "cache.example", "port": "many"}
	}))
	n.refused("storage/no-such-backend", "nowhere|backend", n.inBase(func(config fields) { at(stores(config), "metadata")["backend"] = "nowhere" }))
	n.refused("storage/no-such-backend-of-a-provider", "nowhere|backend", n.inBase(func(config fields) {
		addProvider(config, "vector_io", fields{
			"provider_id": "another", "provider_type": "inline::faiss", "config": n.faiss("nowhere"),
		})
	}))
	n.refused("storage/backend-of-the-other-family", "sql_default|backend|kv", n.inBase(func(config fields) { at(stores(config), "metadata")["backend"] = "sql_default" }))
	n.refused("storage/half-a-reference", "namespace", n.inBase(func(config fields) { delete(at(stores(config), "metadata"), "namespace") }))
	for i := range n.rel.Storage.Stores {
		store := &n.rel.Storage.Stores[i]
		if store.Required || store.NeededByAPI() {
			n.requiredStore(store)
		}
	}
	if i := slices.IndexFunc(n.rel.Storage.Backends,
		func(b release.Backend) bool { return len(b.Class.Rules) > 0 }); i >= 0 {
		kind := n.rel.Storage.Backends[i].Type
		n.refused("storage/rule/exclusive", "connection_string", n.inBase(func(config fields) {
			backends(config)["another"] = fields{
				"type": kind, "connection_string": "postgresql://u@h/d", "host": "h",
				"user": "u",
			}
		}))
		n.refused("storage/rule/any-of", "connection_string|user", n.inBase(func(config fields) { backends(config)["another"] = fields{"type": kind} }))
	}
}

// inlineStorage adds invalid stores, for a release in which each store contains its backend.
func (n *negatives) inlineStorage() {
	n.refused("storage/unknown-type", "nonsense|type", n.inBase(func(config fields) { at(config, "metadata_store")["type"] = "nonsense" }))
	n.refused("storage/backend-of-the-wrong-type", "port", n.inBase(func(config fields) {
		config["metadata_store"] = fields{"type": "redis", "host": "cache.example", "port": "many"}
	}))
	n.refused("storage/unknown-type-of-a-provider", "nonsense|type", n.inBase(func(config fields) {
		addProvider(config, "vector_io", fields{
			"provider_id": "another", "provider_type": "inline::faiss", "config": fields{"kvstore": fields{"type": "nonsense"}},
		})
	}))
}

// requiredStore adds a setting that removes a store. The engine adds this store to a base without it, so a setting must
// not remove it.
func (n *negatives) requiredStore(store *release.Store) {
	without := func(config fields) { delete(at(config, "storage", "stores"), store.Name) }
	data := n.base(without)
	n.refused("supplied/store/"+store.Name, store.Name, n.in(n.over(data, n.again()), without))
	n.refused("storage/store-that-is-taken-out/"+store.Name, store.Name, mistake{
		wrong: n.over(n.config, fields{"removeSettings": []any{store.Path}}), right: n.small, change: without,
	})
}

// faiss returns the config of a provider with its own store.
func (n *negatives) faiss(backend string) fields {
	kind, _ := n.rel.Provider("vector_io", "inline::faiss")
	config := fields{}
	for _, key := range required(kind.Config, nil) {
		config[key] = fields{"namespace": "faiss", "backend": backend}
	}
	return config
}

// secrets adds values of Secrets that the server would change or that cannot be used.
func (n *negatives) secrets() {
	keyed := n.smallSpec(fields{"providers": fields{"inference": n.vllm(fields{"apiKey": ref("vllm", "token")})}})
	right := n.own(keyed)
	value := func(text string) mistake {
		return mistake{
			right: right, env: map[string]string{"LLSD_VLLM_API_KEY": text},
			value: func() error { return secretvalue.Usable(text) },
		}
	}
	numbers := map[string]string{
		"whole": "12345", "with-exponent": "1e5", "infinite": "inf", "grouped": "1_000",
		"of-another-script": "٣٤",
	}
	for _, name := range sorted(numbers) {
		n.refused("secret/number/"+name, "api_token", value(numbers[name]))
	}
	n.refused("secret/bool", "api_token", value("True"))
	n.refused("secret/empty", "not set or empty", value(""))
	n.choice("secret/line-break", Taken, "A line break at the end is usually added by an editor, and an HTTP header cannot contain it.", value("token\n"))
	n.choice("secret/no-text", Unasked, "An environment variable of a container must be valid UTF-8.", mistake{value: func() error { return secretvalue.Usable("\xff\xfe") }})
	environment := func(text string) mistake {
		return mistake{value: func() error { return secretvalue.Environment("TOKEN", []byte(text), true) }}
	}
	n.choice("secret/zero-byte", Unasked, "An environment variable of a container cannot contain it.", environment("a\x00"))
	n.choice("secret/too-long", Unasked, "Linux does not start a program with such a variable.", environment(strings.Repeat("a", 128<<10)))
	n.choice("secret/control-character", Taken, "An HTTP header cannot contain the character, so every request would fail.", value("a\x01b"))
	n.choice("secret/home", Taken, "The server replaces ~ with its home directory, which changes the credential.", value("~/token"))
	n.choice("secret/reference", Taken, "In 1.2 and later, the workers resolve the reference again. In earlier releases, this depends on the setting that contains the value.", value("${env.HOME:=x}"))
	n.connections()
}

// connections adds connection strings that the operator cannot convert.
func (n *negatives) connections() {
	wrong := func(name, text, why string, part secretvalue.Part) {
		n.choice("connection/"+name, Unasked, why, mistake{value: func() error {
			from := release.LineWithBackendKey(n.rel.Line, "sql_postgres", "ssl_mode")
			entry := secretvalue.Derived{Part: part, TLSFrom: from}
			_, err := entry.Derive(text)
			if err == nil {
				return errors.New("accepted")
			}
			return err
		}})
	}
	apart := "The operator splits the string into its parts, because some releases do not accept a connection string."
	wrong("no-url", "mysql://u:p@h/d", apart, secretvalue.PartHost)
	wrong("unreadable", "postgresql://u:p%@h/d", apart, secretvalue.PartHost)
	wrong("unescaped", "postgresql://u:p/w@h/d", apart, secretvalue.PartHost)
	wrong("several-hosts", "postgresql://u:p@a,b/d", "The server accepts only one host.", secretvalue.PartHost)
	wrong("empty", " ", apart, secretvalue.PartHost)
	wrong("open-quote", "host='a user=b", apart, secretvalue.PartHost)
	wrong("no-host", "postgresql:///d?user=u", apart, secretvalue.PartHost)
	wrong("no-user", "postgresql://h/d", apart, secretvalue.PartHost)
	wrong("port", "postgresql://u:p@h:0/d", apart, secretvalue.PartHost)
	wrong("sslmode", "postgresql://u:p@h/d?sslmode=maybe", apart, secretvalue.PartHost)
	wrong("parameter", "postgresql://u:p@h/d?options=x", "The server has no key for the parameter, and would connect without it.", secretvalue.PartHost)
	wrong("odd-parameter", "postgresql://u:p@h/d?a%20b=x", "The server has no key for the parameter, and would connect without it.", secretvalue.PartHost)
	wrong("insists-on-tls", "postgresql://u:p@h/d?sslmode=require", "The backend of this release has no setting for TLS, and would connect in clear text.", secretvalue.PartHostPlain)
	wrong("numeric-user", "postgresql://123:p@h/d", "The server converts the user to a number, but its class requires text.", secretvalue.PartUser)
	wrong("numeric-password", "postgresql://u:123@h/d", "The server converts the password to a number, but its class requires text.", secretvalue.PartPassword)
	wrong("numeric-database", "postgresql://u:p@h/123", "The server converts the database name to a number, but its class requires text.", secretvalue.PartDB)
	wrong("numeric-host", "postgresql://u:p@123/d", "The server converts the host to a number, but its class requires text.", secretvalue.PartHost)
}

// supplied adds configurations with which the server would not start. The engine adds the missing parts, and reports
// nothing or only a warning.
func (n *negatives) supplied() {
	if n.rel.Runtime.PlainHTTPRefused {
		n.refused("supplied/insecure", "insecure|TLS|tls", n.in(n.small, func(config fields) { delete(at(config, "server"), "insecure") }))
	}
	if key := n.rel.Runtime.DistributionKey; key != "" {
		nameless := n.over([]byte("version: 2\nproviders: {}\n"), n.smallSpec(nil))
		n.refused("supplied/name", key, n.in(nameless, func(config fields) { delete(config, key) }))
	}
	rag := "file-search"
	if _, ok := n.rel.Provider("tool_runtime", "inline::"+rag); !ok {
		rag = "rag-runtime"
	}
	search := n.listed(fields{"providers": fields{"inference": n.vllm(nil), "toolRuntime": fields{"provider": rag}}})
	for _, api := range []string{"vector_io", "files"} {
		if kind, _ := n.rel.Provider("tool_runtime", "inline::"+rag); slices.Contains(kind.Requires, api) {
			n.refused("supplied/api/"+api, api, n.in(search, func(config fields) {
				delete(at(config, "providers"), api)
				config["apis"] = slices.DeleteFunc(config["apis"].([]any), func(other any) bool { return other == api })
			}))
		}
	}
	for i := range n.rel.Storage.Stores {
		if store := &n.rel.Storage.Stores[i]; len(store.RequiredWith) > 0 {
			n.ownersStore(store)
		}
	}
	faiss := n.own(n.smallSpec(fields{"providers": fields{
		"inference": n.vllm(nil),
		"vectorIo":  fields{"provider": "faiss"},
	}}))
	n.suppliedKey(faiss, "vector_io", "inline::faiss")
}

// ownersStore adds access rules without the store of owners. The server does not start with such a configuration.
func (n *negatives) ownersStore(store *release.Store) {
	stack := n.own(n.smallSpec(fields{
		"providers": fields{"inference": n.vllm(nil), "vectorIo": fields{"provider": "faiss"}},
		"settings": fields{"server": fields{"auth": fields{
			"provider_config": fields{"type": "custom", "endpoint": "http://auth.example/check"},
			"access_policy":   []any{fields{"permit": fields{"actions": []any{"read"}}}},
		}}},
	}))
	n.refused("supplied/store/"+store.Name, "metadata_store|"+store.Name, n.in(stack, func(config fields) {
		keys := strings.Split(store.Path, ".")
		delete(at(config, keys[:len(keys)-1]...), keys[len(keys)-1])
	}))
}

// suppliedKey adds a case without a key that a type needs. The engine adds the key.
func (n *negatives) suppliedKey(stack *Case, api, name string) {
	kind, _ := n.rel.Provider(api, name)
	for i := range kind.RequiredDefaults {
		key := kind.RequiredDefaults[i].Key
		if known, _ := kind.Config.Key(key); known.Required {
			n.refused("supplied/key/"+key, key, n.in(stack, func(config fields) { delete(anotherConfig(config, api), key) }))
		}
	}
}

// in returns a mistake that is only in the server's configuration: the operator accepts the stack, and the function
// `change` then removes a part of the configuration.
func (n *negatives) in(stack *Case, change func(config fields)) mistake {
	return mistake{wrong: stack, right: stack, change: change}
}
