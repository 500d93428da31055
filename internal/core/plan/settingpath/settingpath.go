package settingpath

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Visit calls visit for every scalar and empty collection of a configuration, in order. The value of an empty
// collection is {} or [].
func Visit(root *yaml.Node, visit func(path, value string)) { leaves(root, "", visit) }

func leaves(node *yaml.Node, path string, visit func(path, value string)) {
	switch {
	case node.Kind == yaml.MappingNode && len(node.Content) > 0:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			if path != "" {
				key = path + "." + key
			}
			leaves(node.Content[i+1], key, visit)
		}
	case node.Kind == yaml.SequenceNode && len(node.Content) > 0:
		for i, item := range node.Content {
			leaves(item, path+"["+label(item, i)+"]", visit)
		}
	case len(node.Content) == 0 && node.Kind != yaml.ScalarNode:
		visit(path, map[yaml.Kind]string{yaml.MappingNode: "{}", yaml.SequenceNode: "[]"}[node.Kind])
	default:
		visit(path, node.Value)
	}
}

// Provider returns the API and the ID of the provider whose type is at a path, in the form API/ID. It returns "" for
// the path of any other value.
func Provider(path string) string {
	entry, isType := strings.CutSuffix(path, "].provider_type")
	api, id, found := strings.Cut(strings.TrimPrefix(entry, "providers."), "[")
	if !isType || !found {
		return ""
	}
	return api + "/" + id
}

// identities are the keys that identify the entries of a list.
var identities = []string{"provider_id", "model_id", "shield_id", "toolgroup_id", "connector_id", "vector_store_id"}

// label returns the name of an entry of a list: its value if it is a scalar, its ID if it has one, and otherwise its
// index. The name of a model does not contain the provider, because two configurations may differ only in the provider
// of a model.
func label(item *yaml.Node, i int) string {
	if item.Kind == yaml.ScalarNode {
		return item.Value
	}
	// The ID of the entry takes precedence over the ID of an object to which the entry refers.
	for _, key := range slices.Backward(identities) {
		if id := yamlnode.Get(item, key); id != nil && id.Value != "" {
			return conditional(id.Value)
		}
	}
	return strconv.Itoa(i)
}

// conditional returns the ID in a reference such as ${env.VLLM_URL:+vllm}. It returns any other ID unchanged.
func conditional(id string) string {
	if reference, whole := envref.Lookalike.Whole(id); whole && reference.Operator == envref.Alternative {
		return reference.Text
	}
	return id
}
