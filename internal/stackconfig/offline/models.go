package offline

import (
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// referenceNeeds returns the settings that name a model from outside: the default embedding model, the default
// reranker.
func (c *checks) referenceNeeds() []need {
	var found []need
	for _, reference := range c.Release.References {
		setting := yamlnode.At(c.Root, strings.Split(reference.Path, ".")...)
		if yamlnode.IsNull(setting) || reference.Resource != "models" || reference.ProviderKey == "" {
			continue
		}
		provider, model := draft.NamedID(setting, reference.ProviderKey), draft.NamedID(setting, reference.ResourceKey)
		if message := c.modelNeed(reference.API, provider, model); message != "" {
			found = append(found, need{
				path:    c.OriginAt(draft.JoinPath(reference.Path, strings.TrimPrefix(reference.ResourceKey, "."))).Path,
				at:      reference.Path,
				message: message + ", or name another one in spec.settings." + reference.Path,
			})
		}
	}
	return found
}

// resourceNeeds returns the registered models from outside, and the outside URLs of other registered resources: MCP
// servers, datasets.
func (c *checks) resourceNeeds() []need {
	var found []need
	for _, known := range c.Release.Resources() {
		for i, item := range yamlnode.Items(c.ResourcesOf(known)) {
			if !c.Registers(known, item) {
				continue
			}
			at := draft.ItemPath(known, i)
			for _, url := range c.outsideURLs(item, at) {
				found = append(found, c.outsideNeed(url))
			}
			if known.Kind != "models" {
				continue
			}
			id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			if own := yamlnode.Text(item, known.ProviderIDKey); own != "" {
				id, _ = envref.Static(own)
			}
			provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
			if asked := c.askedNeed(known.API, provider); asked != "" {
				found = append(found, need{path: c.OriginAt(at).Path, at: at, fatal: true, message: asked})
			} else if message := c.modelNeed(known.API, provider, id); message != "" {
				found = append(found, need{path: c.OriginAt(at).Path, at: at, message: message + ", or remove the model"})
			}
		}
	}
	return found
}

// modelNeed returns a message with the outside source of a model and the remedy, or an empty string for a model that is
// not from outside.
func (c *checks) modelNeed(api, provider, model string) string {
	e := c.Index.Find(api, provider)
	if e == nil || !e.Enabled || model == "" || strings.HasPrefix(model, "/") {
		return ""
	}
	if host := c.downloadsFrom(e); host != "" {
		return fmt.Sprintf("the model %q of %s is downloaded from %s when it is first used: provide it with spec.modelFiles.huggingFaceCache", model, provider, host)
	}
	if host := c.serviceOf(e); host != "" {
		return fmt.Sprintf("the model %q of %s is served by %s, and requests to it fail: give the provider an endpoint that the cluster can reach", model, provider, host)
	}
	return ""
}

// askedNeed returns a message for a model whose provider the server asks at startup. Up to 0.5, the server asks the
// provider for each registered model and stops without an answer.
func (c *checks) askedNeed(api, provider string) string {
	e := c.Index.Find(api, provider)
	if !c.Release.Runtime.ModelsAskedAtStart || e == nil || !e.Enabled || e.Kind == nil || !e.Kind.IsRemote() {
		return ""
	}
	host := c.serviceOf(e)
	if host == "" {
		return ""
	}
	return fmt.Sprintf("server release %s queries %s for the model when it starts, and stops without a response; "+
		"offline, give the provider %s an endpoint that the cluster can reach, or remove the model", c.Release.Line, host, provider)
}
