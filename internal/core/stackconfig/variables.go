package stackconfig

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// TextVariables returns, sorted, the variables in the settings whose keys accept text but not numbers. If such a
// variable had a value such as 12345, the server would not start.
func TextVariables(settings *intent.Settings, rel *release.Release) []string {
	at := make(map[string]string)
	probe, ok := numbered(settings.Values, "", at).(map[string]any)
	if !ok || len(at) == 0 {
		return nil
	}
	var variables []string
	problems := rel.TopLevel.Check(yamlnode.FromJSON(probe))
	for i := range problems {
		if name, known := at[problems[i].Path]; known && problems[i].Kind == schema.WrongType {
			variables = append(variables, name)
		}
	}
	slices.Sort(variables)
	return slices.Compact(variables)
}

// numbered returns a copy of a value in which a number replaces each string that consists of one reference without an
// operator. It adds the path of each such string to the map `at`, with the name of the variable.
func numbered(value any, path string, at map[string]string) any {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for key := range v {
			object[key] = numbered(v[key], draft.JoinPath(path, key), at)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = numbered(v[i], path+"["+strconv.Itoa(i)+"]", at)
		}
		return list
	case string:
		if found, whole := envref.Server.Whole(v); whole && found.Operator == "" {
			at[path] = found.Name
			return json.Number("0")
		}
	}
	return value
}
