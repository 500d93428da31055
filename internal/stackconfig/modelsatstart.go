package stackconfig

import (
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// startupModels: up to 0.5 the server asks the provider for each model that is
// registered, and ends when the provider does not have it. A service has none
// for who shows no key, so the configuration cannot start; a server at an
// endpoint of the user's own may ask nobody for one.
func (c *checker) startupModels() {
	models, ok := c.rel.Resource("models")
	if !ok || !c.rel.Runtime.ModelsAskedAtStart {
		return
	}
	for i, item := range yamlnode.Items(c.existing(models)) {
		origin := c.originAt(itemPath(models, i))
		id, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		e := c.index.find(models.API, id)
		if origin.Path == nil || e == nil || c.hasKey(e) {
			continue
		}
		message := fmt.Sprintf("the server release %s asks %s for the model when it starts, and there is no API key to ask with", c.rel.Line, id)
		if e.user != nil && e.user.Endpoint != "" {
			c.warnf(origin.Path, "%s: it does not start when the endpoint demands one; name it in %s", message, e.user.Path.Child("apiKey"))
			continue
		}
		c.failf(origin.Path, "%s: configure a provider in spec.providers.%s, with its apiKey, and name it as the model's provider", message, apiField(models.API))
	}
}

// hasKey says whether a provider has a credential to show, or takes none.
func (c *checker) hasKey(e *entry) bool {
	if e.kind == nil || !e.enabled || !e.kind.IsRemote() || e.kind.CredentialKey == "" || c.in.MoreVariables {
		return true
	}
	key := yamlnode.At(e.node, "config", e.kind.CredentialKey)
	if yamlnode.IsNull(key) {
		return false
	}
	text, replaced := c.startText(key)
	return key.Value != "" && (!replaced || text != "")
}
