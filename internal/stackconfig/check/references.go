package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// references checks that a setting with the ID of a provider names an existing provider, and that a setting with the ID
// of a resource names a registered resource.
func (c *checker) references() {
	for _, reference := range c.Release.References {
		setting := yamlnode.At(c.Root, strings.Split(reference.Path, ".")...)
		if yamlnode.IsNull(setting) {
			continue
		}
		if reference.ResourceKey == "." {
			c.resourceReference(reference, setting)
		}
		if reference.ProviderKey == "" {
			continue
		}
		c.modelReference(reference, setting)
		id := draft.NamedID(setting, reference.ProviderKey)
		if id != "" && !envref.In(id) && c.Index.Find(reference.API, id) == nil {
			c.failAt(reference.Path, func() string {
				return fmt.Sprintf("refers to the %s provider %q, which does not exist; available: %s", draft.APIField(reference.API), id, c.available(reference.API))
			})
		}
	}
}

// modelReference warns about a model that the user names and that is not registered. A missing model is not an error,
// because the provider can list it.
func (c *checker) modelReference(reference release.Reference, setting *yaml.Node) {
	provider, model := draft.NamedID(setting, reference.ProviderKey), draft.NamedID(setting, reference.ResourceKey)
	_, ok := c.Release.Resource(reference.Resource)
	base := yamlnode.At(c.Base, strings.Split(reference.Path, ".")...)
	if !ok || model == "" || envref.In(model) || c.OriginAt(reference.Path).Path == nil ||
		!yamlnode.IsNull(base) && draft.NamedID(base, reference.ProviderKey) == provider &&
			draft.NamedID(base, reference.ResourceKey) == model {
		return
	}
	models := c.publicModels()
	if _, registered := models.entries[provider+"/"+model]; registered {
		return
	}
	for _, public := range models.ids {
		if entry := models.entries[public]; entry.provider == provider && (entry.name == model || entry.own == model) {
			c.Warnf(c.OriginAt(reference.Path).Path,
				"no model has the name %q: in server release %s, the name of the registered model is %q; unless the provider lists the model %q, the server ignores %s or does not start; set %s to %q",
				provider+"/"+model, c.Release.Line, public, model, reference.Path, reference.ResourceKey, strings.TrimPrefix(public, provider+"/"))
			return
		}
	}
	c.Warnf(c.OriginAt(reference.Path).Path,
		"no model %q of the provider %q is registered; unless the provider lists the model, the server ignores %s or does not start; add the model to spec.resources.models",
		model, provider, reference.Path)
}

// resourceReference reports a default shield that does not exist or whose API the server does not serve, because the
// server does not start with such a default. If no shields are registered, the server does not check the default
// (server fact 59).
func (c *checker) resourceReference(reference release.Reference, setting *yaml.Node) {
	id := draft.NamedID(setting, reference.ResourceKey)
	known, ok := c.Release.Resource(reference.Resource)
	if !ok || id == "" || envref.In(setting.Value) {
		return
	}
	if !c.ServesAPI(known.API) {
		c.failAt(reference.Path, func() string {
			return fmt.Sprintf("requires the API %s; %s", draft.APIField(known.API), c.addProvider(known.API))
		})
		return
	}
	var ids []string
	for _, item := range yamlnode.Items(c.ResourcesOf(known)) {
		if c.Registers(known, item) {
			other, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			ids = append(ids, other)
		}
	}
	if len(ids) > 0 && !slices.Contains(ids, id) {
		c.failAt(reference.Path, func() string {
			return fmt.Sprintf("%q is not one of the %s; available: %s", id, reference.Resource, draft.Listed(ids))
		})
	}
}
