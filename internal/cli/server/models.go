package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

const (
	// LLM is the type of a model that answers questions.
	LLM = "llm"
	// maxModels bounds the list of models.
	maxModels = 5_000
	// maxListed is the number of models that an error lists.
	maxListed = 10
)

// Model is a model that a server serves.
type Model struct {
	// ID is the name by which clients ask for the model.
	ID string `json:"id"`
	// Type is llm, embedding or rerank.
	Type string `json:"type"`
	// Provider is the id of the provider.
	Provider string `json:"provider"`
	// ProviderModel is the provider's own name of the model.
	ProviderModel string `json:"providerModel"`
}

// parseModels reads the list of models. Up to release 0.3 a model is {"identifier", "model_type", "provider_id",
// "provider_resource_id"}. From 0.4 on it is {"id", "custom_metadata": {"model_type", …}}.
func parseModels(body []byte) ([]Model, error) {
	type facts struct {
		Type          string `json:"model_type"`
		Provider      string `json:"provider_id"`
		ProviderModel string `json:"provider_resource_id"`
	}
	var answer struct {
		Data []struct {
			ID         string `json:"id"`
			Identifier string `json:"identifier"`
			facts
			Metadata facts `json:"custom_metadata"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &answer) != nil || answer.Data == nil { // the error may quote the answer
		return nil, errors.New("the answer with the models is not JSON, or of another shape")
	}
	if len(answer.Data) > maxModels {
		return nil, fmt.Errorf("the answer has more than %d models", maxModels)
	}
	models := []Model{}
	for _, m := range answer.Data {
		model := Model{
			ID:            printable(cmp.Or(m.ID, m.Identifier)),
			Type:          printable(cmp.Or(m.Type, m.Metadata.Type, LLM)),
			Provider:      printable(cmp.Or(m.Provider, m.Metadata.Provider)),
			ProviderModel: printable(cmp.Or(m.ProviderModel, m.Metadata.ProviderModel)),
		}
		if model.ID != "" {
			models = append(models, model)
		}
	}
	slices.SortFunc(models, func(a, b Model) int { return cmp.Compare(a.ID, b.ID) })
	return models, nil
}

// printable removes control characters, which could change a terminal.
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
	// Name is its name there.
	Name string
	// Provider is the id of its provider. Empty means any.
	Provider string
}

// Choose returns the model to ask: the one with this name, else the only LLM, else the first wanted one that is an LLM.
// A name is an id, or the provider's own name if only one model has it.
func Choose(models []Model, name string, wanted []Wanted) (Model, error) {
	if name != "" {
		return byName(models, name)
	}
	llms := slices.DeleteFunc(slices.Clone(models), func(m Model) bool { return m.Type != LLM })
	switch len(llms) {
	case 0:
		return Model{}, errors.New(
			"the server has no model that answers questions; add one to spec.resources.models, or check its " +
				"inference providers",
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
			return Model{}, fmt.Errorf("the server has no model %q, did you mean %q?", name, near)
		}
		return Model{}, fmt.Errorf("the server has no model %q; it has: %s", name, ids(models))
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
