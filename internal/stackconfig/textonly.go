package stackconfig

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// WantsText returns a function that reports whether the server requires a variable to be text: always for credentials,
// by the release's schema for other keys, and for a user's own variable where settings pass it to such a key.
func WantsText(in *intent.Intent, r *release.Release) func(variable string) bool {
	text := map[string]bool{}
	if store := in.Storage.KV; store != nil && store.Password != nil {
		text[store.Password.EnvVar] = true
	}
	for _, name := range TextVariables(&in.Settings, r) {
		text[name] = true
	}
	for i := range in.Providers {
		p := &in.Providers[i]
		if p.APIKey != nil {
			text[p.APIKey.EnvVar] = true
		}
		known, ok := r.ResolveType(p.API, p.Type)
		for _, secret := range p.Secrets {
			if secret.Key == names.FieldAPIKey {
				text[secret.EnvVar] = true
			}
			if !ok || known.Config == nil {
				continue
			}
			if key, ok := known.Config.Key(secret.Key); ok {
				text[secret.EnvVar] = textOnly(key.Type)
			}
		}
	}
	return func(variable string) bool { return text[variable] }
}

// textOnly reports whether all members of the type take only a string.
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
