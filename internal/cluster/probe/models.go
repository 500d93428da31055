package probe

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// maxModels bounds the list of models, which is stored in an object's status. A remote provider can list hundreds of
// models.
const maxModels = 20

// modelForm matches valid public IDs of models. The status shows these IDs.
var modelForm = form{regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:/@+-]*$`), 256}

// Models is a server's list of models.
type Models struct {
	// Listed contains the first models, at most maxModels, in the order of their IDs. Nil means that the server does not
	// list its models.
	Listed []v1alpha2.ModelStatus
	// LeftOut is the number of models with a valid ID that are not in Listed.
	LeftOut int32
}

// modelEntry is an entry in the list of models. Release 0.4 and newer releases use "id", with the other properties in
// "custom_metadata". Older releases use "identifier", "model_type" and "provider_id".
type modelEntry struct {
	modelProperties

	ID         string          `json:"id"`
	Identifier string          `json:"identifier"`
	Custom     modelProperties `json:"custom_metadata"`
}

type modelProperties struct {
	Type     string `json:"model_type"`
	Provider string `json:"provider_id"`
}

func (m *modelEntry) model() v1alpha2.ModelStatus {
	model := v1alpha2.ModelStatus{
		ID: cmp.Or(m.Identifier, m.ID), Type: named(cmp.Or(m.Type, m.Custom.Type)),
		Provider: named(cmp.Or(m.Provider, m.Custom.Provider)),
	}
	if strings.HasPrefix(model.ID, model.Provider+"/") {
		model.Provider = ""
	}
	return model
}

// parseModels drops the metadata of the models. It sorts the list, because the servers of one stack can return it in
// different orders. It omits models with an invalid ID.
func parseModels(body []byte) (Models, error) {
	data, err := dataOf[modelEntry](body, "models")
	if err != nil {
		return Models{}, err
	}
	list := []v1alpha2.ModelStatus{}
	for i := range data {
		if model := data[i].model(); modelForm.matches(model.ID) {
			list = append(list, model)
		}
	}
	slices.SortStableFunc(list, func(a, b v1alpha2.ModelStatus) int { return cmp.Compare(a.ID, b.ID) })
	list = slices.CompactFunc(list, func(a, b v1alpha2.ModelStatus) bool { return a.ID == b.ID })
	// A part of the list would keep all of it in memory.
	shown := slices.Clone(list[:min(len(list), maxModels)])
	return Models{Listed: shown, LeftOut: int32(len(list) - len(shown))}, nil //nolint:gosec // bounded by maxEntries
}

// named returns the name of a type or a provider, or "" for an invalid name.
func named(name string) string {
	if !nameForm.matches(name) {
		return ""
	}
	return name
}
