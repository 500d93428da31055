package modellist

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// Model is a model that clients can name.
type Model struct {
	// ID is the public id, which clients send as "model".
	ID string `json:"id"`
	// Type is llm, embedding or rerank.
	Type string `json:"type"`
	// Provider is the id of the provider that serves the model.
	Provider string `json:"provider,omitempty"`
	// ProviderModel is the provider's name for the model.
	ProviderModel string `json:"providerModel,omitempty"`
}

// Path is the path at which a server lists its models.
const Path = "/v1/models"

const (
	modelKind    = "models"
	defaultType  = "llm"
	typeKey      = "model_type"
	providerKey  = "provider_id"
	metadataKey  = "metadata"
	maxModels    = 10_000
	unknownModel = "(named by the environment)"
)

// FromConfig returns the models that a server's configuration registers, sorted by id. Line is the release line of the
// server; the public ids depend on it. An unknown line is read as the default one.
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
	return sorted(models), nil
}

// resource returns how a release line registers models.
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

// list returns the list of models. Up to release 0.3 it is a section of its own.
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

// answer is the answer of a server. Up to release 0.3 its entries have the fields of the first group, later ones those
// of the second.
type answer struct {
	Data []struct {
		Identifier string `json:"identifier"`
		entry
		ProviderResourceID string `json:"provider_resource_id"`

		ID       string `json:"id"`
		Metadata struct {
			entry
			ProviderResourceID string `json:"provider_resource_id"`
		} `json:"custom_metadata"`
	} `json:"data"`
}

type entry struct {
	ModelType  string `json:"model_type"`
	ProviderID string `json:"provider_id"`
}

// FromServer returns the models in a server's answer, sorted by id.
func FromServer(data []byte) ([]Model, error) {
	var said answer
	if err := json.Unmarshal(data, &said); err != nil {
		return nil, fmt.Errorf("the server does not answer %s with a list of models: %w", Path, err)
	}
	if len(said.Data) > maxModels {
		said.Data = said.Data[:maxModels]
	}
	models := make([]Model, 0, len(said.Data))
	for i := range said.Data {
		m := &said.Data[i]
		models = append(models, Model{
			ID:            cmp.Or(m.Identifier, m.ID),
			Type:          cmp.Or(m.ModelType, m.Metadata.ModelType, defaultType),
			Provider:      cmp.Or(m.ProviderID, m.Metadata.ProviderID),
			ProviderModel: cmp.Or(m.ProviderResourceID, m.Metadata.ProviderResourceID),
		})
	}
	return sorted(models), nil
}

func sorted(models []Model) []Model {
	slices.SortStableFunc(models, func(a, b Model) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID))
	})
	return models
}

// rank puts the models that answer questions first.
func rank(m Model) int {
	if m.Type == defaultType {
		return 0
	}
	return 1
}
