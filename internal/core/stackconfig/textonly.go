package stackconfig

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// WantsText returns a function that reports whether the server requires the value of a variable to be text. The
// function returns true for API keys and for the key-value store's password. For other secrets of providers, and for
// variables in the settings, the result depends on the schema.
func WantsText(in *intent.Intent, r *release.Release) func(variable string) bool {
	text := map[string]bool{}
	if store := in.Storage.KV; store != nil && store.Password != nil {
		text[store.Password.EnvVar] = true
	}
	for _, name := range TextVariables(&in.Settings, r) {
		text[name] = true
	}
	for i := range in.Providers {
		markText(text, &in.Providers[i], r)
	}
	return func(variable string) bool { return text[variable] }
}

// markText marks the variables of a provider that must be text.
func markText(text map[string]bool, p *intent.Provider, r *release.Release) {
	if p.APIKey != nil {
		text[p.APIKey.EnvVar] = true
	}
	known, ok := r.ResolveType(p.API, p.Type)
	for _, secret := range p.Secrets {
		if secret.Key == names.FieldAPIKey {
			text[secret.EnvVar] = true
		}
		if !ok {
			continue
		}
		if key, ok := known.Config.Key(secret.Key); ok {
			text[secret.EnvVar] = textOnly(key.Type)
		}
	}
}

// textOnly reports whether a type accepts only strings and null.
func textOnly(expr *schema.Expr) bool {
	switch expr.Kind {
	case schema.KindStr, schema.KindSecret, schema.KindURL, schema.KindPath, schema.KindNull:
		return true
	case schema.KindUnion:
		for _, member := range expr.Args {
			if !textOnly(member) {
				return false
			}
		}
		return true
	default:
		return false
	}
}
