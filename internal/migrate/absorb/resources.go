package absorb

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// addResources adds the resources that the base does not register, or registers differently.
func (c *candidate) addResources() {
	for _, known := range c.Distribution.Release.Resources() {
		keys := []string{known.Section, known.Kind}
		if known.Section == release.TopLevel {
			keys = keys[1:]
		}
		ours := tidyList(known.Kind, listAt(c.base, keys...))
		for i, entry := range tidyList(known.Kind, listAt(c.want, keys...)) {
			if !slices.ContainsFunc(ours, func(known any) bool { return equal(known, entry) }) {
				c.addResource(known, entry, fmt.Sprintf("%s[%d]", strings.Join(keys, "."), i))
			}
		}
	}
}

// tidyList returns a list of resources without values that the server treats as missing: null, and empty metadata.
func tidyList(kind string, entries []any) []any {
	tidied := make([]any, 0, len(entries))
	for _, entry := range entries {
		values, ok := clone(entry).(object)
		if !ok {
			tidied = append(tidied, entry)
			continue
		}
		for key, value := range values {
			inner, isObject := value.(object)
			if value == nil || kind == "models" && key == "metadata" && isObject && len(inner) == 0 {
				delete(values, key)
			}
		}
		tidied = append(tidied, values)
	}
	return tidied
}

// addResource writes an entry in the form that the spec uses. The comparison reports the keys that no field can hold.
func (c *candidate) addResource(known release.Resource, entry any, path string) {
	values, _ := entry.(object)
	tools := c.Distribution.Release.Tools
	field, item := known.Kind, object{"name": values[known.IDKey]}
	switch known.Kind {
	case "models":
		model(item, values)
	case "shields":
		put(item, "model", values[known.ProviderIDKey])
		put(item, "params", values["params"])
	case tools.MCP, "tool_groups":
		field = "tools"
		put(item, "args", values["args"])
		if known.Kind == tools.MCP {
			put(item, "mcpEndpoint", at(values, strings.Split(tools.MCPURLKey, ".")...))
		}
	default:
		c.stay(path, "no field registers "+known.Kind+"; register them in your own base configuration (spec.baseConfig)")
		return
	}
	if provider, _ := envref.Static(textAt(values, "provider_id")); provider != "" {
		item["provider"] = provider
	}
	c.stays = append(c.stays, c.clearText(path, known.Kind, item, false)...)
	list, _ := c.resources[field].([]any)
	c.resources[field] = append(list, asJSON(item))
}

// model moves the keys of a model to the fields of the spec.
func model(item, values object) {
	put(item, "providerModelId", values["provider_model_id"])
	put(item, "modelType", values["model_type"])
	metadata, _ := clone(values["metadata"]).(object)
	if length, ok := metadata["context_length"].(json.Number); ok {
		item["contextLength"] = length
		delete(metadata, "context_length")
	}
	if len(metadata) > 0 {
		item["metadata"] = metadata
	}
}

func put(item object, field string, value any) {
	if value != nil {
		item[field] = value
	}
}
