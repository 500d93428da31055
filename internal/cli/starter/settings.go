package starter

import (
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
)

// Settings returns the keys of a provider that --setting can set. It omits internal keys, credentials, and keys that
// other flags set.
func Settings(kind *provider.Type) []string {
	var names []string
	for i := range kind.Config.Keys {
		key := &kind.Config.Keys[i]
		if !key.Internal && !key.Secret && key.Name != kind.EndpointKey && key.Name != kind.CredentialKey {
			names = append(names, key.Name)
		}
	}
	return names
}

// Required returns the keys that --setting must set, because the server does not start without them.
func Required(kind *provider.Type) []string {
	var names []string
	for _, name := range Settings(kind) {
		key, _ := kind.Config.Key(name)
		supplied := slices.ContainsFunc(kind.RequiredDefaults, func(d provider.Default) bool { return d.Key == name })
		if key.Required && !supplied {
			names = append(names, name)
		}
	}
	return names
}

// checkSettings reads the settings. It omits a setting with an error, because the value can be a credential.
func (p *Plan) checkSettings() {
	known := Settings(p.Kind)
	for _, text := range p.Settings {
		name, value, ok := strings.Cut(text, "=")
		switch {
		case !ok:
			p.wrong(FlagSetting, "%q has no value; write KEY=VALUE", name)
		case slices.Contains(p.Kind.Secrets(), name) || name == p.Kind.CredentialKey:
			p.wrong(FlagSetting, "%q is a credential; set %s to a Secret", name, FlagSecret)
		case !slices.Contains(known, name):
			p.unknown(FlagSetting, name, known)
		default:
			p.settings = append(p.settings, setting{name, p.settingValue(name, value)})
		}
	}
}

// settingValue returns a value as YAML. If the key has a string type, the value is a string even if it looks like a
// number.
func (p *Plan) settingValue(name, value string) string {
	key, _ := p.Kind.Config.Key(name)
	if key.Type != nil {
		if typ := key.Type.String(); typ == "str" || strings.HasPrefix(typ, "str ") {
			return scalar(value)
		}
	}
	var parsed any
	if err := yaml.Unmarshal([]byte(value), &parsed); err != nil || parsed == nil {
		return scalar(value)
	}
	switch parsed.(type) {
	case bool, float64, int64:
		return strings.TrimSpace(value)
	default:
		return scalar(value)
	}
}

// scalar returns a string as a YAML scalar on one line.
func scalar(text string) string {
	data, err := yaml.Marshal(text)
	if trimmed := strings.TrimSpace(string(data)); err == nil && !strings.Contains(trimmed, "\n") {
		return trimmed
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text) + `"`
}
