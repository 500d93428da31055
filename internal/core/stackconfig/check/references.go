package check

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
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
		id := draft.NamedID(setting, reference.ProviderKey)
		serving := c.Index.Find(reference.API, id)
		if serving != nil && reference.ModelType != "" {
			c.modelReference(reference, setting, serving)
		}
		if id != "" && !envref.In(id) && serving == nil {
			c.failAt(reference.Path, func() string {
				return fmt.Sprintf("refers to the %s provider %q, which does not exist; available: %s", draft.APIField(reference.API), id, c.available(reference.API))
			})
		}
	}
}

// modelReference checks a setting that names a model. The server looks up the model by the name that clients use and
// by its type. A model that is not registered is an error only if its provider cannot list such a model.
func (c *checker) modelReference(reference release.Reference, setting *yaml.Node, serving *draft.Provider) {
	provider, model := draft.NamedID(setting, reference.ProviderKey), draft.NamedID(setting, reference.ResourceKey)
	if _, ok := c.Release.Resource(reference.Resource); !ok || model == "" || envref.In(model) || envref.In(provider) {
		return
	}
	if !serving.Enabled {
		c.unusable(reference, c.Intent.MoreVariables, func() (string, string) {
			return fmt.Sprintf("the provider %q exists only when the variable %s is set", provider, serving.Condition), "set the variable, or name another model"
		})
		return
	}
	models := c.publicModels()
	found, registered := models.entries[provider+"/"+model]
	if registered && found.modelType == reference.ModelType {
		return
	}
	canList := models.incomplete || serving.Kind == nil || serving.Kind.Lists.May(reference.ModelType, model)
	if registered {
		c.unusable(reference, false, func() (string, string) {
			return fmt.Sprintf("%q is a model of type %s, and this setting needs a model of type %s", provider+"/"+model, found.modelType, reference.ModelType),
				"name another model, or correct the type of this one"
		})
		return
	}
	c.unusable(reference, canList, func() (string, string) { return c.unregistered(reference, provider, model) })
}

// unregistered returns the problem with a model that is not registered, and the remedy. A registered model with a
// similar name is more likely to be the intended one than a model that the provider lists.
func (c *checker) unregistered(reference release.Reference, provider, model string) (problem, remedy string) {
	models := c.publicModels()
	plain := strings.TrimPrefix(model, provider+"/")
	for _, public := range models.ids {
		if entry := models.entries[public]; entry.provider == provider && (entry.name == plain || entry.own == plain) {
			return fmt.Sprintf("no model has the name %q: in server release %s, the name of the registered model is %q", provider+"/"+model, c.Release.Line, public),
				fmt.Sprintf("set %s to %q", reference.ResourceKey, strings.TrimPrefix(public, provider+"/"))
		}
	}
	return fmt.Sprintf("no model %q of the provider %q is registered", model, provider),
		"add the model to spec.resources.models, with modelType " + reference.ModelType
}

// unusable reports a setting whose model the server cannot use. It is an error if the server does not start. If that is
// unsure, because the provider might list the model, it is a warning, and a setting of the base is not reported.
func (c *checker) unusable(reference release.Reference, unsure bool, problem func() (what, remedy string)) {
	path := reference.Path
	for _, key := range []string{reference.ResourceKey, reference.ProviderKey} {
		if at := path + "." + key; c.OriginAt(path).Path == nil && c.OriginAt(at).Path != nil {
			path = at
		}
	}
	message := func(result string) string {
		what, remedy := problem()
		if unsure {
			return fmt.Sprintf("%s; unless the provider lists the model, %s; %s", what, result, remedy)
		}
		return fmt.Sprintf("%s, so %s; %s", what, result, remedy)
	}
	switch origin := c.OriginAt(path); {
	case reference.CheckedAtStart && !unsure && !c.Unknown:
		c.failAt(path, func() string { return message("the server does not start") })
	case origin.Path != nil && reference.CheckedAtStart:
		c.Warnf(origin.Path, "%s", message("the server does not start"))
	case origin.Path != nil:
		c.Warnf(origin.Path, "%s", message("requests that use it fail"))
	}
}

// resourceReference reports a default shield that does not exist or whose API the server does not serve, because the
// server does not start with such a default. If no shields are registered, the server does not check the default
// (server fact 59), and the function reports a warning.
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
	if at := c.OriginAt(reference.Path).Path; len(ids) == 0 && at != nil {
		c.Warnf(at, "no %[1]s are registered, so requests that use this default fail until a client registers %[2]q; add %[2]q to spec.resources.%[1]s",
			reference.Resource, id)
	}
	if len(ids) > 0 && !slices.Contains(ids, id) {
		c.failAt(reference.Path, func() string {
			return fmt.Sprintf("%q is not one of the %s; available: %s", id, reference.Resource, intent.Listed(ids))
		})
	}
}
