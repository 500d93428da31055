package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// accessPolicy is the path of the access rules. Each rule has one of the effects.
const accessPolicy = "server.auth.access_policy"

var effects = []string{"permit", "forbid"}

// modelNames warns about public IDs of models that the user writes and that the release does not have, or that are not
// the only ID of the model. The server does not check these names when it starts (server fact 80).
func (c *checker) modelNames() {
	c.accessRules()
	shields, ok := c.Release.Resource("shields")
	if !ok {
		return
	}
	for i, item := range yamlnode.Items(c.ResourcesOf(shields)) {
		by, _ := envref.Static(yamlnode.Text(item, "provider_id"))
		model := yamlnode.Text(item, shields.ProviderIDKey)
		path := c.OriginAt(draft.ItemPath(shields, i) + "." + shields.ProviderIDKey).Path
		serving := c.Index.Find(shields.API, by)
		if path == nil || model == "" || strings.Contains(model, "${") {
			continue
		}
		if serving == nil || serving.ProviderType != llamaGuard {
			continue
		}
		if problem := c.unknownModel(model); problem != "" {
			c.Warnf(path, "%q names %s", model, problem)
		}
	}
}

// llamaGuard is the type of the safety provider whose shields use a registered model.
const llamaGuard = "inline::llama-guard"

// accessRules warns about rules of the user that apply to no resource, or not to all names of a model.
func (c *checker) accessRules() {
	rules := yamlnode.Items(yamlnode.At(c.Root, strings.Split(accessPolicy, ".")...))
	named := make(map[string]bool)
	for _, rule := range rules {
		for _, effect := range effects {
			named[yamlnode.Text(yamlnode.Get(rule, effect), "resource")] = true
		}
	}
	for i, rule := range rules {
		for _, effect := range effects {
			resource, _ := envref.Static(yamlnode.Text(yamlnode.Get(rule, effect), "resource"))
			path := c.OriginAt(fmt.Sprintf("%s[%d].%s.resource", accessPolicy, i, effect)).Path
			if resource == "" || path == nil || strings.HasPrefix(resource, "regex:") || strings.Contains(resource, "${") {
				continue
			}
			if kind, id, qualified := strings.Cut(resource, "::"); !qualified {
				c.Warnf(path, "%q selects no resource; write a type, two colons and an ID, such as model::vllm/llama or model::*", resource)
			} else if kind == "model" && id != "*" {
				c.ruledModel(path, id, named)
			}
		}
	}
}

// ruledModel checks the ID of a model in an access rule. Other entries for the same model are separate resources, to
// which the rule does not apply. The parameter named contains the resources that rules name.
func (c *checker) ruledModel(path *field.Path, id string, named map[string]bool) {
	if problem := c.unknownModel(id); problem != "" {
		c.Warnf(path, "the rule selects %s", problem)
		return
	}
	provider, own, _ := strings.Cut(id, "/")
	models := c.publicModels()
	if ruled, registered := models.entries[id]; registered {
		provider, own = ruled.provider, ruled.own
	}
	for _, public := range models.of[[2]string{provider, own}] {
		if public != id && !named["model::"+public] {
			c.Warnf(path, "the rule selects %q, but not the name %q of the same model; if the rule is for both, add a rule for model::%s", id, public, public)
		}
	}
}

// llm is the type of a model whose entry names no type.
const llm = "llm"

// entry is a registered model: the provider, the provider's name for the model, the name in the entry, and the type of
// the model.
type entry struct{ provider, own, name, modelType string }

// publicModels holds the registered models.
type publicModels struct {
	// entries is keyed by the IDs that clients use, and ids are these IDs, sorted.
	entries map[string]entry
	ids     []string
	// of maps a provider and its name for a model to the IDs, and near maps the names in entries to the first ID.
	of   map[[2]string][]string
	near map[string]string
	// incomplete reports whether the IDs of other models are known only in the pod.
	incomplete bool
}

// publicModels returns the registered models. It caches the result, because the models no longer change at this step.
func (c *checker) publicModels() *publicModels {
	if c.models != nil {
		return c.models
	}
	found := &publicModels{}
	c.models = found
	known, ok := c.Release.Resource("models")
	if !ok {
		return found
	}
	items := yamlnode.Items(c.ResourcesOf(known))
	found.entries = make(map[string]entry, len(items))
	found.of, found.near = make(map[[2]string][]string, len(items)), make(map[string]string, len(items))
	for _, item := range items {
		if id, ok := c.publicID(known, item); ok {
			provider, _ := envref.Static(yamlnode.Text(item, "provider_id"))
			name, _ := envref.Static(yamlnode.Text(item, known.IDKey))
			own := cmp.Or(yamlnode.Text(item, known.ProviderIDKey), name)
			found.entries[id] = entry{
				provider: provider, own: own, name: name, modelType: cmp.Or(yamlnode.Text(item, "model_type"), llm),
			}
		} else if c.Registers(known, item) {
			found.incomplete = true
		}
	}
	found.ids = slices.Sorted(maps.Keys(found.entries))
	for _, id := range found.ids {
		model := found.entries[id]
		target := [2]string{model.provider, model.own}
		found.of[target] = append(found.of[target], id)
		for _, name := range []string{model.name, model.own} {
			if found.near[name] == "" {
				found.near[name] = id
			}
		}
	}
	return found
}

// unknownModel returns a description of a public ID that no model has, or an empty string if a model has this ID. A
// provider can list models that are not registered, so an ID that begins with the ID of a provider can be correct.
func (c *checker) unknownModel(id string) string {
	models := c.publicModels()
	if _, registered := models.entries[id]; registered {
		return ""
	}
	provider, own, _ := strings.Cut(id, "/")
	if serving := c.Index.Find("inference", provider); own != "" && serving != nil && serving.Enabled {
		return ""
	}
	if public := models.near[id]; public != "" {
		return fmt.Sprintf("no model: in server release %s, the name of this model is %q; write this name", c.Release.Line, public)
	}
	return fmt.Sprintf("no model: none is registered with this name, and there is no inference provider %q that could list it; available: %s",
		provider, c.available("inference"))
}
