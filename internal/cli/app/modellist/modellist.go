package modellist

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Model is a model that clients can use.
type Model struct {
	// ID is the public ID, which clients send as "model".
	ID string `json:"id"`
	// Type is llm, embedding or rerank.
	Type string `json:"type"`
	// Provider is the ID of the provider that serves the model.
	Provider string `json:"provider,omitempty"`
	// ProviderModel is the name that the provider uses for the model.
	ProviderModel string `json:"providerModel,omitempty"`
}

const (
	modelKind    = "models"
	defaultType  = "llm"
	typeKey      = "model_type"
	providerKey  = "provider_id"
	metadataKey  = "metadata"
	unknownModel = "(set by an environment variable)"
)

// FromConfig returns the models that the configuration of a server registers, in the order of Sorted. The public IDs
// depend on `line`, which is the release line of the server. If the release line is unknown, the IDs are those of the
// default release line.
func FromConfig(config []byte, line string) ([]Model, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(config, &document); err != nil {
		return nil, fmt.Errorf("the configuration is not valid YAML: %w", err)
	}
	if len(document.Content) == 0 {
		return nil, nil
	}
	known := resource(line)
	var models []Model
	for _, item := range yamlnode.Items(list(document.Content[0])) {
		models = append(models, fromEntry(item, known))
	}
	return Sorted(models), nil
}

// resource returns the form in which a release line registers models.
func resource(line string) release.Resource {
	data := release.Default()
	if match, err := release.Lookup(line); line != "" && err == nil {
		data = match.Release
	}
	for _, known := range data.Resources() {
		if known.Kind == modelKind {
			return known
		}
	}
	return release.Resource{Kind: modelKind, IDKey: "model_id", ProviderIDKey: "provider_model_id"}
}

// list returns the list of models. In releases up to 0.3, the list is a top-level section.
func list(top *yaml.Node) *yaml.Node {
	if section := yamlnode.Get(top, release.RegisteredResources); section != nil {
		return yamlnode.Get(section, modelKind)
	}
	return yamlnode.Get(top, modelKind)
}

func fromEntry(item *yaml.Node, known release.Resource) Model {
	id, _ := envref.Static(yamlnode.Text(item, known.IDKey))
	provider, _ := envref.Static(yamlnode.Text(item, providerKey))
	own, _ := envref.Static(yamlnode.Text(item, known.ProviderIDKey))
	public := known.Public(id, provider, own)
	if id == "" || strings.Contains(public, "${") {
		public = unknownModel
	}
	return Model{
		ID: public, Provider: provider, ProviderModel: cmp.Or(own, id),
		Type: cmp.Or(
			yamlnode.Text(item, typeKey),
			yamlnode.Text(yamlnode.Get(item, metadataKey), typeKey),
			defaultType,
		),
	}
}

// Sorted sorts models by ID, and places LLMs before all other models.
func Sorted(models []Model) []Model {
	slices.SortStableFunc(models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
	})
	return models
}

// rank returns 0 for an LLM, and 1 for any other model.
func rank(m Model) int {
	if m.Type == defaultType {
		return 0
	}
	return 1
}
