package retention

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

const (
	pathModels    = "spec.resources.models"
	pathInference = "spec.providers.inference"
	pathRules     = "spec.settings.server.auth.access_policy"
)

// models checks the models that vector stores or access rules name by their public IDs. A different release, entry or
// provider can change a public ID, and nothing changes the names in vector stores and rules.
func (c *comparison) models() {
	stores := c.keepsStores()
	for _, id := range slices.Sorted(maps.Keys(c.before.Models)) {
		was := c.before.Models[id]
		if c.serves(id, was) {
			continue
		}
		if was.Embeds && stores {
			c.lostEmbedding(id, was)
		}
		c.lostRule(id, was)
	}
}

// keepsStores reports whether vector stores outlive the previous pods, and still have a provider after the change.
func (c *comparison) keepsStores() bool {
	for what, data := range c.before.Data {
		if _, there := c.after.Data[what]; there && isVector(what) && c.anyDurable(data) {
			return true
		}
	}
	return false
}

// serves reports whether a public ID still names a model after the change, and an embedding model if it did before. A
// model that was not registered is listed by its provider.
func (c *comparison) serves(id string, was Model) bool {
	if is, there := c.after.Served[id]; there {
		return is.Embeds || !was.Embeds
	}
	return !was.Declared && c.after.Inference[was.Provider] == was.Type
}

// heirs returns the first public IDs that a model has after the change, sorted: those of entries with the same name at
// the provider, or at a provider of the same type if the provider no longer exists. Without such an entry, a provider
// of the same type lists the model.
func (c *comparison) heirs(was Model) []string {
	_, kept := c.after.Inference[was.Provider]
	likely := func(provider, kind string) bool { return provider == was.Provider || !kept && kind == was.Type }
	var found []string
	for id, is := range c.after.Served {
		if is.Own == was.Own && likely(is.Provider, is.Type) {
			found = append(found, id)
		}
	}
	if len(found) == 0 && !kept {
		for provider, kind := range c.after.Inference {
			if likely(provider, kind) {
				found = append(found, provider+"/"+was.Own)
			}
		}
	}
	slices.Sort(found)
	return found[:min(len(found), maxNamed)]
}

// modelField returns the field whose change renamed or removed a model.
func (c *comparison) modelField(was Model) string {
	_, kept := c.after.Inference[was.Provider]
	switch {
	case c.after.Override:
		return pathOverride
	case c.crosses():
		return pathDistribution
	case !kept && was.Provider != "":
		return pathInference
	default:
		return pathModels
	}
}

// lostEmbedding handles an embedding model whose public ID changes.
func (c *comparison) lostEmbedding(id string, was Model) {
	now := ""
	if heirs := c.heirs(was); len(heirs) > 0 && !slices.Contains(heirs, id) {
		now = " (the new name is " + quoted(heirs) + ")"
	}
	what := "models/" + id
	c.lose(what, c.modelField(was), fmt.Sprintf("after the change, no embedding model has the name %q%s, but vector stores keep the name "+
		"of their embedding model: in the vector stores that use this model, searches fail, and files cannot be added; to keep the name, "+
		"%s; if no vector store uses the model, or after you delete these vector stores, accept the change with the annotation %s: %q",
		id, now, c.keepName(id, was), Annotation, what), true)
}

// lostRule handles a model whose public ID changes, if a rule names the earlier ID and no rule with the same effect
// applies to the new ID.
func (c *comparison) lostRule(id string, was Model) {
	for _, forbids := range []bool{true, false} {
		if !slices.Contains(c.after.Rules, Rule{Forbids: forbids, Resource: modelPrefix + id}) {
			continue
		}
		heirs := slices.DeleteFunc(c.heirs(was), func(heir string) bool { return c.ruled(heir, forbids) })
		if len(heirs) == 0 {
			continue
		}
		field := pathRules
		if c.after.Override {
			field = pathOverride
		}
		effect, accept := "does not permit this model any longer", ""
		if forbids {
			effect = "does not protect this model any longer"
			accept = fmt.Sprintf(", or accept the change with the annotation %s: %q", Annotation, modelPrefix+id)
		}
		c.lose(modelPrefix+id, field, fmt.Sprintf("the access rule for %q %s, because the name of the model after the change is %s; "+
			"add a rule for %q%s", modelPrefix+id, effect, quoted(heirs), modelPrefix+heirs[0], accept), forbids)
	}
}

// ruled reports whether a rule with the given effect applies to a model after the change.
func (c *comparison) ruled(id string, forbids bool) bool {
	if c.selections == nil {
		for _, rule := range c.after.Rules {
			c.selections = append(c.selections, newSelection(rule))
		}
	}
	return slices.ContainsFunc(c.selections, func(s selection) bool { return s.Forbids == forbids && s.selects(id) })
}

// keepName returns an instruction with which a model keeps its public ID.
func (c *comparison) keepName(id string, was Model) string {
	if _, exists := c.after.Inference[was.Provider]; !exists && was.Provider != "" {
		return fmt.Sprintf("keep the inference provider with the ID %q", was.Provider)
	}
	if c.after.Override {
		return "register an embedding model with this name in the configuration"
	}
	if found, err := release.Lookup(c.after.Release); err == nil {
		known, ok := found.Release.Resource("models")
		if ok && known.Public(was.Own, was.Provider, "") == id {
			return fmt.Sprintf("use an entry in %s with the name %q and modelType embedding, without providerModelId, and no other entry for "+
				"the same model", pathModels, was.Own)
		}
	}
	return fmt.Sprintf("restore the entry in %s", pathModels)
}

func quoted(ids []string) string {
	var out []string
	for _, id := range ids {
		out = append(out, fmt.Sprintf("%q", id))
	}
	return strings.Join(out, " and ")
}
