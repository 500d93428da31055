package check

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// startupModels reports the user's models that the server cannot verify at startup. In releases up to 0.5, the server
// queries the provider for each registered model, and does not start when the provider does not have the model (server
// fact 58). A public service does not list its models without a key. A server at the user's own endpoint might not
// require a key.
func (c *checker) startupModels() {
	models, ok := c.Release.Resource("models")
	if !ok || !c.Release.Runtime.ModelsAskedAtStart {
		return
	}
	for i, item := range yamlnode.Items(c.ResourcesOf(models)) {
		origin := c.OriginAt(draft.ItemPath(models, i))
		id, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		e := c.Index.Find(models.API, id)
		if origin.Path == nil || e == nil || c.hasKey(e) {
			continue
		}
		message := fmt.Sprintf("server release %s queries %s for the model at startup, and no API key is set", c.Release.Line, id)
		if e.User != nil && e.User.Endpoint != "" {
			c.Warnf(origin.Path, "%s: the server does not start if the endpoint requires a key; name a Secret in %s", message, e.User.Path.Child("apiKey"))
			continue
		}
		c.Failf(origin.Path, "%s, so the server does not start: configure a provider with an apiKey in spec.providers.%s, and set the model's provider field to this provider's ID", message, draft.APIField(models.API))
	}
}

// hasKey reports whether a provider has a credential or needs no credential. It also returns true if envFrom or an
// unknown type makes the answer impossible to determine.
func (c *checker) hasKey(e *draft.Provider) bool {
	if e.Kind == nil || !e.Enabled || !e.Kind.IsRemote() || e.Kind.CredentialKey == "" || c.Intent.MoreVariables {
		return true
	}
	key := yamlnode.At(e.Node, "config", e.Kind.CredentialKey)
	if yamlnode.IsNull(key) {
		return false
	}
	text, replaced := c.StartupText(key)
	return key.Value != "" && (!replaced || text != "")
}
