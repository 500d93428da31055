package resources

import (
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// shield registers one shield (FR-044).
func (r *registrar) shield(s *intent.Shield) {
	res, ok := r.newResource(kindShields, s.Name, s.Path)
	if !ok || !r.provider(res, s.Provider, providerPath(s.Path, s.Provider)) {
		return
	}
	r.shieldModel(s)
	// Clients use the ID of a shield without its provider, so each ID identifies only one shield.
	res.public = s.Name
	if s.Model != "" && res.ProviderIDKey != "" {
		r.Write(draft.Under(res.entry, res.ProviderIDKey), yamlnode.String(s.Model), draft.From(s.Path.Child("model")))
	}
	if len(s.Params) > 0 {
		r.Write(draft.Under(res.entry, "params"), yamlnode.FromJSON(s.Params), draft.From(s.Path.Child("params")))
	}
	r.register(res)
}

// shieldModel warns about a model whose name differs only in case from that of a registered model. The server
// distinguishes upper and lower case, so a request that uses the shield would fail.
func (r *registrar) shieldModel(s *intent.Shield) {
	var near string
	for _, name := range r.modelNames() {
		if name == s.Model {
			return
		}
		if strings.EqualFold(name, s.Model) {
			near = name
		}
	}
	if near != "" {
		r.Warnf(s.Path.Child("model"), "%q differs from the model %q only in case, and the server distinguishes the two; write %q",
			s.Model, near, near)
	}
}

// modelNames returns the names of registered models. For the user's models, these are the names that clients use and
// the names in the spec. For all models in the configuration, they are the IDs with and without their providers.
func (r *registrar) modelNames() []string {
	var found []string
	for _, model := range r.models {
		found = append(found, model.ID, model.Name)
	}
	known, ok := r.Release.Resource(kindModels)
	if !ok {
		return found
	}
	for _, item := range yamlnode.Items(r.ResourcesOf(known)) {
		id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
		provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		found = append(found, id, provider+"/"+id)
	}
	return found
}
