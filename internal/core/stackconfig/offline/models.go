package offline

import (
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// referenceNeeds returns the needs of settings that name a model whose source is outside the cluster, such as the
// default embedding model or the default reranker.
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
				message: message + ", or name another model in spec.settings." + reference.Path,
			})
		}
	}
	return found
}

// resourceNeeds returns the needs of registered resources: models whose source is outside the cluster, and URLs outside
// the cluster, such as those of MCP servers and datasets.
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
			if known.Kind == "models" {
				found = append(found, c.registeredNeed(known, item, at)...)
			}
		}
	}
	return found
}

// registeredNeed returns the need of a registered model, or nil when the model needs no internet access.
func (c *checks) registeredNeed(known release.Resource, item *yaml.Node, at string) []need {
	id, _ := envref.Static(cmp.Or(yamlnode.Text(item, known.ProviderIDKey), yamlnode.Text(item, known.IDKey)))
	provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
	if message := c.askedNeed(known.API, provider); message != "" {
		return []need{{path: c.OriginAt(at).Path, at: at, fatal: true, message: message}}
	}
	if message := c.modelNeed(known.API, provider, id); message != "" {
		return []need{{path: c.OriginAt(at).Path, at: at, message: message + ", or remove the model"}}
	}
	return nil
}

// modelNeed returns a message with the remedy for a model whose source is outside the cluster. It returns an empty
// string for any other model.
func (c *checks) modelNeed(api, provider, model string) string {
	e := c.Index.Find(api, provider)
	if e == nil || !e.Enabled || model == "" || strings.HasPrefix(model, "/") {
		return ""
	}
	if host := c.downloadsFrom(e); host != "" {
		return fmt.Sprintf("the server downloads the model %q of %s from %s when a client first uses the model: provide the model through spec.modelFiles.huggingFaceCache", model, provider, host)
	}
	if host := c.serviceOf(e); host != "" {
		return fmt.Sprintf("the model %q of %s is served by %s, and requests to the model fail in an offline cluster: give the provider an endpoint that the cluster can reach", model, provider, host)
	}
	return ""
}

// askedNeed returns a message if, at startup, the server queries a provider outside the cluster for the model.
// Otherwise, it returns an empty string. Up to 0.5, the server queries the provider for each registered model, and does
// not start without a response.
func (c *checks) askedNeed(api, provider string) string {
	e := c.Index.Find(api, provider)
	if !c.Release.Runtime.ModelsAskedAtStart || e == nil || !e.Enabled || e.Kind == nil || !e.Kind.IsRemote() {
		return ""
	}
	host := c.serviceOf(e)
	if host == "" {
		return ""
	}
	return fmt.Sprintf("server release %s queries %s for the model at startup, and does not start without a response; "+
		"in an offline cluster, give the provider %s an endpoint that the cluster can reach, or remove the model",
		c.Release.Line, host, provider)
}
