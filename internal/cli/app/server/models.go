package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

const (
	// LLM is the type of a model that answers questions.
	LLM = "llm"
	// maxModels is the maximum number of models in a response.
	maxModels = 5_000
	// maxListed is the maximum number of models that an error lists.
	maxListed = 10
)

// Model is a model that a server serves.
type Model struct {
	// ID is the name of the model in client requests.
	ID string `json:"id"`
	// Type is llm, embedding or rerank.
	Type string `json:"type"`
	// Provider is the ID of the provider.
	Provider string `json:"provider"`
	// ProviderModel is the name that the provider uses for the model.
	ProviderModel string `json:"providerModel"`
}

// modelFacts are the facts about a model in a response.
type modelFacts struct {
	Type          string `json:"model_type"`
	Provider      string `json:"provider_id"`
	ProviderModel string `json:"provider_resource_id"`
}

// modelEntry is a model in a response. Releases up to 0.3 send {"identifier", "model_type", "provider_id",
// "provider_resource_id"}. Later releases send {"id", "custom_metadata": {"model_type", …}}.
type modelEntry struct {
	ID         string `json:"id"`
	Identifier string `json:"identifier"`
	modelFacts
	Metadata modelFacts `json:"custom_metadata"`
}

// model returns the entry without control characters.
func (m *modelEntry) model() Model {
	return Model{
		ID:            printable(cmp.Or(m.ID, m.Identifier)),
		Type:          printable(cmp.Or(m.Type, m.Metadata.Type, LLM)),
		Provider:      printable(cmp.Or(m.Provider, m.Metadata.Provider)),
		ProviderModel: printable(cmp.Or(m.ProviderModel, m.Metadata.ProviderModel)),
	}
}

// parseModels decodes a list of models, and sorts it by ID. It skips models without an ID.
func parseModels(body []byte) ([]Model, error) {
	var answer struct {
		Data []modelEntry `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Data == nil { // a decoder error may quote the response
		return nil, errors.New("the server's response is not a list of models")
	}
	if len(answer.Data) > maxModels {
		return nil, fmt.Errorf("the response has more than %d models; set allowed_models in the settings of the "+
			"inference providers to list fewer models", maxModels)
	}
	models := []Model{}
	for i := range answer.Data {
		if model := answer.Data[i].model(); model.ID != "" {
			models = append(models, model)
		}
	}
	slices.SortFunc(models, func(a, b Model) int { return cmp.Compare(a.ID, b.ID) })
	return models, nil
}

// printable removes characters that cannot be printed, and replaces line breaks and tabs with spaces.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
}

// Wanted is a model in the spec of a stack.
type Wanted struct {
	// Name is the name of the model in the spec.
	Name string
	// Provider is the ID of the provider. Empty means any provider.
	Provider string
}

// Choose returns the model with the given name. For an empty name, it returns the only LLM, or the first wanted model
// that is an LLM. The name is the ID of a model, or the name that the provider uses for it. An ID takes precedence.
// Choose returns an error if it finds no model. It also returns an error if the name is not an ID, and providers use
// the name for more than one model.
func Choose(models []Model, name string, wanted []Wanted) (Model, error) {
	if name != "" {
		return byName(models, name)
	}
	llms := slices.DeleteFunc(slices.Clone(models), func(m Model) bool { return m.Type != LLM })
	switch len(llms) {
	case 0:
		return Model{}, errors.New(
			"the server has no model of type llm; add a model to spec.resources.models, or check the " +
				"inference providers of the server",
		)
	case 1:
		return llms[0], nil
	}
	for _, w := range wanted {
		i := slices.IndexFunc(llms, func(m Model) bool {
			return (w.Provider == "" || m.Provider == w.Provider) && (m.ID == w.Name || m.ProviderModel == w.Name ||
				m.ID == m.Provider+"/"+w.Name)
		})
		if i >= 0 {
			return llms[i], nil
		}
	}
	return Model{}, fmt.Errorf("the server has several models; select one with --model: %s", ids(llms))
}

func byName(models []Model, name string) (Model, error) {
	var found []Model
	for _, model := range models {
		if model.ID == name {
			return model, nil
		}
		if model.ProviderModel == name {
			found = append(found, model)
		}
	}
	switch len(found) {
	case 0:
		var names []string
		for _, model := range models {
			names = append(names, model.ID, model.ProviderModel)
		}
		if near := suggest.Nearest(name, names); near != "" {
			return Model{}, fmt.Errorf("the server has no model %q; did you mean %q?", name, near)
		}
		return Model{}, fmt.Errorf("the server has no model %q; models of the server: %s", name, ids(models))
	case 1:
		return found[0], nil
	default:
		return Model{}, fmt.Errorf("several providers have a model %q; use one of: %s", name, ids(found))
	}
}

func ids(models []Model) string {
	if len(models) == 0 {
		return "none"
	}
	var names []string
	for _, model := range models[:min(len(models), maxListed)] {
		names = append(names, model.ID)
	}
	text := strings.Join(names, ", ")
	if more := len(models) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
