package retention

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/expression"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

const inference = "inference"

// Model is a model that clients request by its public ID. Vector stores keep the public ID of their embedding model,
// and access rules name models by their public IDs.
type Model struct {
	// Provider is the ID of the provider. Empty means any provider.
	Provider string `json:"provider,omitempty"`
	// Type is the type of the provider.
	Type string `json:"type,omitempty"`
	// Own is the provider's name for the model.
	Own string `json:"own,omitempty"`
	// Declared reports whether the configuration registers the model. Otherwise, the provider lists it.
	Declared bool `json:"declared,omitempty"`
	// Embeds reports whether the model is an embedding model.
	Embeds bool `json:"embeds,omitempty"`
}

// Rule is an access rule for a resource.
type Rule struct {
	// Forbids reports whether the rule forbids actions. Otherwise, it permits them.
	Forbids bool
	// Resource is the text that selects resources: `model::vllm/llama`, `model::*`, or an expression after `regex:`.
	Resource string
}

// modelPrefix begins the name of a model in an access rule.
const modelPrefix = "model::"

// maxRules bounds the number of access rules. Further rules apply to no model.
const maxRules = 1000

// selection selects the models that a rule applies to (core/access_control in the server).
type selection struct {
	Rule
	expression *regexp.Regexp
}

func newSelection(rule Rule) selection {
	s := selection{Rule: rule}
	if text, found := strings.CutPrefix(rule.Resource, "regex:"); found {
		// The server also ignores an expression that does not compile.
		s.expression, _ = expression.Compile("^(?:" + text + ")")
	}
	return s
}

// selects reports whether the rule applies to a model.
func (s *selection) selects(id string) bool {
	name := modelPrefix + id
	if s.expression != nil {
		return s.expression.MatchString(name)
	}
	prefix, wildcard := strings.CutSuffix(s.Resource, "*")
	return s.Resource == name || wildcard && strings.HasSuffix(prefix, "::") && strings.HasPrefix(name, prefix)
}

// models reads the models and the access rules. Places.Models contains only the models that vector stores can name, and
// those that a rule names.
func (r *reader) models() {
	p := r.places
	p.Inference, p.Served, p.Models = map[string]string{}, map[string]Model{}, map[string]Model{}
	for _, item := range yamlnode.Items(yamlnode.At(r.Config, "providers", inference)) {
		if id := r.Pod.resolve(text(item, "provider_id")); id != "" && id != disabledID {
			p.Inference[id] = text(item, "provider_type")
		}
	}
	if known, ok := r.Release.Resource("models"); ok {
		for _, item := range yamlnode.Items(r.resources(known)) {
			r.model(known, item)
		}
		r.defaultModels(known)
	}
	for id, model := range p.Served {
		if model.Embeds {
			p.Models[id] = model
		}
	}
	r.rules()
}

func (r *reader) resources(known release.Resource) *yaml.Node {
	if known.Section == release.TopLevel {
		return yamlnode.Get(r.Config, known.Kind)
	}
	return yamlnode.At(r.Config, known.Section, known.Kind)
}

// model records a registered model. The server skips an entry whose provider does not exist.
func (r *reader) model(known release.Resource, item *yaml.Node) {
	id, by := r.Pod.resolve(text(item, known.IDKey)), r.Pod.resolve(text(item, "provider_id"))
	own := r.Pod.resolve(text(item, known.ProviderIDKey))
	everyProvider := known.AnyProvider != "" && by == known.AnyProvider
	if _, exists := r.places.Inference[by]; id == "" || !exists && !everyProvider {
		return
	}
	public := short(known.Public(id, by, own))
	if own == "" {
		own = id
	}
	model := Model{Own: short(own), Declared: true, Embeds: text(item, "model_type") == "embedding"}
	if !everyProvider {
		model.Provider, model.Type = by, r.places.Inference[by]
	}
	r.places.Served[public] = model
}

// defaultModels records the default embedding model, which its provider can list without an entry. The server reads its
// public ID from the setting.
func (r *reader) defaultModels(known release.Resource) {
	for _, reference := range r.Release.References {
		setting := yamlnode.At(r.Config, strings.Split(reference.Path, ".")...)
		by, own := r.Pod.resolve(text(setting, reference.ProviderKey)), r.Pod.resolve(text(setting, reference.ResourceKey))
		id := short(by + "/" + own)
		_, declared := r.places.Served[id]
		kind, exists := r.places.Inference[by]
		embeds := reference.Resource == known.Kind && strings.HasSuffix(reference.Path, "embedding_model")
		if embeds && exists && own != "" && !declared {
			r.places.Served[id] = Model{Provider: by, Type: kind, Own: short(own), Embeds: true}
		}
	}
}

// rules reads the access rules, and records the models that they name. A provider can list such a model without an
// entry.
func (r *reader) rules() {
	for _, item := range yamlnode.Items(yamlnode.At(r.Config, "server", "auth", "access_policy")) {
		for _, effect := range []string{"permit", "forbid"} {
			resource := r.Pod.resolve(text(yamlnode.Get(item, effect), "resource"))
			if resource == "" || len(r.places.Rules) == maxRules {
				continue
			}
			r.places.Rules = append(r.places.Rules, Rule{Forbids: effect == "forbid", Resource: resource})
			if id, isModel := strings.CutPrefix(resource, modelPrefix); isModel && id != "*" {
				r.named(short(id))
			}
		}
	}
}

func (r *reader) named(id string) {
	model, declared := r.places.Served[id]
	if by, own, found := strings.Cut(id, "/"); found && !declared {
		kind, exists := r.places.Inference[by]
		model, declared = Model{Provider: by, Type: kind, Own: own}, exists
	}
	if declared {
		r.places.Models[id] = model
	}
}
