package corpus

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// form defines which keys of a provider are set.
type form int

const (
	// minimal sets the keys that the type requires to start.
	minimal form = iota
	// full sets all keys that the rules of the type allow together, except for deprecated and internal keys.
	full
	// some sets the required keys, and other keys at random.
	some
)

// provider returns an entry of spec.providers. The ID may be empty.
func (v *values) provider(kind *provider.Type, id string, size form) fields {
	p := fields{"provider": kind.Type}
	if id != "" {
		p["id"] = id
	} else {
		id = kind.Short()
	}
	done := map[string]bool{}
	v.endpoint(p, kind, done, size)
	if wanted(v, kind.Config, kind.CredentialKey, size) {
		p["apiKey"] = ref(secretName(id), "api-key")
		done[kind.CredentialKey] = true
	}
	for i := range kind.RequiredDefaults {
		// Users rarely set a key for which the engine has a default.
		if size != some || v.chance(80) {
			done[kind.RequiredDefaults[i].Key] = true
		}
	}
	v.settings(p, kind, id, done, size)
	return p
}

// wanted reports whether to set a key, either because the key is required or because the form selects it.
func wanted(v *values, class *schema.Class, name string, size form) bool {
	key, known := class.Key(name)
	return known && (key.Required || size == full || (size == some && v.chance(60)))
}

// endpoint sets the endpoint of a provider, and marks as done the keys that the endpoint determines.
func (v *values) endpoint(p fields, kind *provider.Type, done map[string]bool, size form) {
	if !wanted(v, kind.Config, kind.EndpointKey, size) {
		return
	}
	host := strings.ReplaceAll(kind.Short(), "::", "-") + ".example"
	p["endpoint"] = "http://" + host + ":8000"
	if strings.HasSuffix(kind.Type, "::neo4j") {
		p["endpoint"] = "neo4j://" + host + ":7687"
	}
	if kind.PortKey != "" {
		p["endpoint"] = host + ":5432"
		done[kind.PortKey] = true
	}
	done[kind.EndpointKey] = true
}

// settings sets keys that no field of the provider has set.
func (v *values) settings(p fields, kind *provider.Type, id string, done map[string]bool, size form) {
	v.write(p, kind.Config, id, v.settingKeys(kind.Config, done, size))
}

// write sets keys of a config. Credentials come from a Secret, and the other values are in the object.
func (v *values) write(p fields, class *schema.Class, id string, names []string) {
	settings, secrets := fields{}, fields{}
	for _, name := range names {
		key, _ := class.Key(name)
		if key.Secret {
			secrets[name] = ref(secretName(id), name)
		} else if value, ok := v.key(class, &key, 0); ok {
			settings[name] = value
		}
	}
	if len(settings) > 0 {
		p["settings"] = settings
	}
	if len(secrets) > 0 {
		p["secretRefs"] = secrets
	}
}

func (v *values) settingKeys(class *schema.Class, done map[string]bool, size form) []string {
	if size == minimal {
		return required(class, done)
	}
	return v.keys(class, done)
}

// secretName returns the name of the Secret with the credentials of a provider.
func secretName(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		default:
			return '-'
		}
	}, id)
}
