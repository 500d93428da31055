package stackconfig

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// shield registers one shield (FR-044).
func (r *registry) shield(s *intent.Shield) {
	res, ok := r.newResource(kindShields, s.Name, s.Path)
	if !ok || !r.provider(res, s.Provider, providerPath(s.Path, s.Provider)) {
		return
	}
	// A shield's id is the name clients use, whatever its provider.
	res.public = s.Name
	if s.Model != "" && res.ProviderIDKey != "" {
		r.write(under(res.entry, res.ProviderIDKey), yamlnode.String(s.Model), from(s.Path.Child("model")))
	}
	if len(s.Params) > 0 {
		r.write(under(res.entry, "params"), yamlnode.FromJSON(s.Params), from(s.Path.Child("params")))
	}
	r.register(res)
}
