package change

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

// Clients returns the changes for clients of a running server: changes to model IDs, APIs and the address.
func Clients(before, after *plan.Plan) []Difference {
	was, is := models(before), models(after)
	found := differences("model ", was, is)
	was, is = served(before), served(after)
	found = append(found, differences("", was, is)...)
	return append(found, differences("", address(before), address(after))...)
}

// models returns a map from the names of models in the spec to their public IDs. If only the base configuration
// registers a model, the key of the model is its ID.
func models(of *plan.Plan) map[string]string {
	found := map[string]string{}
	if of == nil {
		return found
	}
	for _, model := range of.Models {
		found[model.Name] = model.ID
	}
	for _, setting := range of.Settings() {
		id, isModel := strings.CutPrefix(setting.Named, "registered_resources.models[")
		id, isID := strings.CutSuffix(id, "].model_id")
		if isModel && isID && setting.Origin == plan.OriginBase {
			if _, own := found[id]; !own {
				found[id] = id
			}
		}
	}
	return found
}

// served returns the APIs that the server serves.
func served(of *plan.Plan) map[string]string {
	found := map[string]string{}
	for _, setting := range settings(of) {
		if api, ok := strings.CutPrefix(setting.Named, "apis["); ok {
			found["API "+strings.TrimSuffix(api, "]")] = "served"
		}
	}
	return found
}

// address returns the parts of the address that clients use to reach the server: the port, the scheme, the kind of
// exposure and the host name.
func address(of *plan.Plan) map[string]string {
	found := map[string]string{}
	if of == nil {
		return found
	}
	found["port"], found["scheme"] = strconv.Itoa(int(of.Rendered.Inputs.Port)), "http"
	if of.ServesTLS {
		found["scheme"] = "https"
	}
	if of.Exposure.Kind != "" {
		found["exposed by"] = of.Exposure.Kind
	}
	if of.Hostname != "" {
		found["host name"] = of.Hostname
	}
	return found
}

// differences returns the entries that differ, sorted by name.
func differences(kind string, was, is map[string]string) []Difference {
	all := maps.Clone(was)
	maps.Copy(all, is)
	var found []Difference
	for _, name := range slices.Sorted(maps.Keys(all)) {
		from, before := was[name]
		if to, after := is[name]; before != after || from != to {
			found = append(found, Difference{What: kind + name, From: from, To: to})
		}
	}
	return found
}

// String returns the change in one line.
func (c Difference) String() string {
	isAPI := strings.HasPrefix(c.What, "API ")
	switch {
	case c.To == "" && isAPI:
		return "- " + c.What + ": no longer served"
	case c.To == "" && strings.HasPrefix(c.What, "model "):
		return "- " + c.What + ": " + c.From + " is no longer served"
	case c.To == "":
		return "- " + c.What + ": " + c.From
	case c.From == "" && isAPI:
		return "+ " + c.What + ": new"
	case c.From == "":
		return "+ " + c.What + ": " + c.To
	default:
		return "~ " + c.What + ": " + c.From + " -> " + c.To
	}
}
