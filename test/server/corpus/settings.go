package corpus

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// tls adds cases with a certificate from a Secret, alone and with other settings of the listener, and a case with a
// certificate in the base.
func (m *maker) tls() {
	certificate := fields{"tls": fields{"enabled": true, "secretName": "tls"}}
	m.add("tls/secret", fields{"networking": certificate})
	m.addOwn("tls/secret/small", m.nothing(), fields{
		"networking": certificate, "providers": vllm(), "storage": fields{"kv": fields{}, "sql": fields{}},
		"workload": fields{"workers": 2},
	})
	m.addOwn("tls/base", m.nothing()+"server: {tls_certfile: /tls/tls.crt, tls_keyfile: /tls/tls.key}\n", fields{
		"providers": vllm(), "storage": fields{"kv": fields{}, "sql": fields{}},
	})
	if _, known := m.rel.Server.Key("tls_config"); known {
		m.add("tls/secret/ciphers", fields{
			"networking": certificate,
			"settings": fields{"server": fields{
				"hsts_max_age": 0,
				"tls_config":   fields{"ciphers": []any{"ECDHE-RSA-AES256-GCM-SHA384"}},
			}},
		})
	}
}

// settings adds cases that set and remove the keys of the configuration. The operator rejects a setting for a key that
// a field of the spec determines.
func (m *maker) settings() {
	for i := range m.rel.TopLevel.Keys {
		key := &m.rel.TopLevel.Keys[i]
		class := classOf(key.Type)
		if class == nil {
			m.setting([]string{key.Name}, key)
			continue
		}
		for k := range class.Keys {
			m.setting([]string{key.Name, class.Keys[k].Name}, &class.Keys[k])
		}
	}
	for _, class := range m.authentications() {
		v := &values{}
		if value, ok := v.class(class, 0); ok {
			patch := fields{"server": fields{"auth": fields{"provider_config": tagged(class, value)}}}
			m.add("settings/server.auth/"+class.Name, fields{"settings": patch})
		}
	}
	m.add("settings/default-shield", fields{
		"resources": fields{"shields": []any{"guard", "other"}},
		"settings":  fields{"safety": fields{"default_shield_id": "other"}},
	})
	m.add("settings/variables", fields{
		"secretEnv": fields{"ENDPOINT": ref("auth", "endpoint")},
		"settings": fields{"server": fields{"auth": fields{"provider_config": fields{
			"type": "custom", "endpoint": "${env.ENDPOINT}/${env.REALM:=main}",
		}}}},
	})
	for _, path := range pathsOf(shipped(m.rel, starter)) {
		m.add("settings/removed/"+path, fields{"removeSettings": []any{path}})
	}
	m.addOwn("settings/replaced", m.nothing()+"server: {auth: {provider_config: {type: github_token}, access_policy: []}}\n", fields{
		"providers": vllm(), "storage": fields{"kv": fields{}, "sql": fields{}}, "removeSettings": []any{"server.auth"},
		"settings": fields{"server": fields{"auth": fields{"provider_config": fields{"type": "kubernetes"}}}},
	})
}

// settings returns some of the keys that no field of the spec sets.
func (g *generator) settings() fields {
	settings := fields{}
	for range 1 + g.rand.IntN(3) {
		section := oneOf(&g.values, []string{"server", "vector_stores", "external_apis_dir", "logging"})
		key, ok := g.rel.TopLevel.Key(section)
		if !ok {
			continue
		}
		class := classOf(key.Type)
		if class == nil {
			g.put(settings, []string{section}, &key)
			continue
		}
		if name := oneOf(&g.values, class.Names()); !ownedKey(section, name) {
			inner, _ := class.Key(name)
			g.put(settings, []string{section, name}, &inner)
		}
	}
	if len(settings) == 0 {
		settings["server"] = fields{"host": "::"}
	}
	return settings
}

// ownedKey reports whether a field or any other part of the spec determines a key, so that the operator rejects a
// setting for the key.
func ownedKey(section, name string) bool {
	named := section == "vector_stores" && strings.HasPrefix(name, "default_")
	return named || slices.Contains([]string{"port", "workers", "insecure", "tls_certfile", "tls_keyfile", "tls_cafile"},
		name)
}

// put sets a random value at a path, and does not change other values.
func (g *generator) put(into fields, path []string, key *schema.Key) {
	value, ok := g.of(key.Type, key.Limits, 0)
	if !ok {
		return
	}
	if len(path) > 1 {
		section, _ := into[path[0]].(fields)
		if section == nil {
			section = fields{}
			into[path[0]] = section
		}
		into, path = section, path[1:]
	}
	into[path[0]] = value
}

// setting adds a case that sets one value. The other required keys of the section come from the base.
func (m *maker) setting(path []string, key *schema.Key) {
	v := &values{}
	value, ok := v.of(key.Type, key.Limits, 0)
	if !ok {
		return
	}
	if path[0] == "vector_stores" && strings.HasPrefix(key.Name, "default_") {
		return // the values refer to objects that must exist, and the starter sets these keys
	}
	m.add("settings/"+strings.Join(path, "."), fields{"settings": nested(path, value)})
}

// nested returns nested mappings that contain a value at a path.
func nested(path []string, value any) any {
	for i := len(path); i > 0; i-- {
		value = fields{path[i-1]: value}
	}
	return value
}

// classOf returns the class of a section, or nil if the section has no class.
func classOf(expr *schema.Expr) *schema.Class {
	if expr.Kind == schema.KindClass {
		return expr.Class
	}
	var found *schema.Class
	for _, member := range expr.Args {
		if expr.Kind == schema.KindUnion && member.Kind == schema.KindClass {
			found = member.Class
		}
	}
	return found
}

// authentications returns the classes of the client authentication methods.
func (m *maker) authentications() []*schema.Class {
	auth, ok := m.rel.Server.Key("auth")
	if !ok {
		return nil
	}
	config, _ := classOf(auth.Type).Key("provider_config")
	var classes []*schema.Class
	for _, member := range append([]*schema.Expr{config.Type}, config.Type.Args...) {
		if member.Kind == schema.KindClass {
			classes = append(classes, member.Class)
		}
	}
	return classes
}

// tagged returns a value with the key that identifies its class.
func tagged(class *schema.Class, value any) any {
	if key, ok := class.Key("type"); ok && key.Type.Kind == schema.KindLiteral {
		value.(fields)["type"] = key.Type.Values[0]
	}
	return value
}

// pathsOf returns the paths of a configuration's sections. For a section that no field of the spec sets completely, it
// also returns the paths of the keys.
func pathsOf(config []byte) []string {
	var sections map[string]any
	if err := yaml.Unmarshal(config, &sections); err != nil {
		panic("corpus: " + err.Error()) // a test in package release checks the data
	}
	var paths []string
	for _, section := range sorted(sections) {
		paths = append(paths, section)
		owned := slices.Contains([]string{"providers", "registered_resources", "metadata_store", "inference_store"}, section)
		if below, ok := sections[section].(map[string]any); ok && !owned {
			for _, key := range sorted(below) {
				paths = append(paths, section+"."+key)
			}
		}
	}
	return paths
}
