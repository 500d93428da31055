package draft

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Root returns the root of the generated configuration. Do not change it.
func (r *Report) Root() *yaml.Node { return r.root }

// Explained is one value in the configuration, with its origin.
type Explained struct {
	// Path is the place in the configuration, for example providers.inference[2].config.base_url.
	Path string `json:"path"`
	// Named is this place with the IDs of the entries of lists, for example providers.inference[vllm].config.base_url.
	Named string `json:"-"`
	// Value is the value at that place. For an empty collection, it is {} or [].
	Value string `json:"value"`
	// Origin is the origin as text.
	Origin string `json:"origin"`
}

// Explain lists every scalar and empty collection of the generated configuration with its origin, in the order of the
// configuration.
func (r *Report) Explain() []Explained { return explain(r.root, r.origins, FromBase) }

// Explain lists every scalar and empty collection of a configuration, in order. All of them have the same origin.
func Explain(root *yaml.Node, origin string) []Explained {
	return explain(root, nil, Origin{Note: origin})
}

func explain(root *yaml.Node, origins map[*yaml.Node]Origin, rest Origin) []Explained {
	if root == nil {
		return nil
	}
	e := explainer{origins: origins}
	e.walk(root, Explained{}, rest)
	return e.found
}

type explainer struct {
	origins map[*yaml.Node]Origin
	found   []Explained
}

// walk lists the values of a node. A value without a recorded origin has the origin of the node that contains it.
func (e *explainer) walk(node *yaml.Node, at Explained, origin Origin) {
	if own, ok := e.origins[node]; ok {
		origin = own
	}
	switch {
	case len(node.Content) == 0:
		at.Value, at.Origin = valueText(node), origin.String()
		e.found = append(e.found, at)
	case node.Kind == yaml.SequenceNode:
		for i, item := range node.Content {
			e.walk(item, Explained{
				Path: at.Path + "[" + strconv.Itoa(i) + "]", Named: at.Named + "[" + label(item, i) + "]",
			}, origin)
		}
	default:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key := node.Content[i].Value
			e.walk(node.Content[i+1], Explained{Path: JoinPath(at.Path, key), Named: JoinPath(at.Named, key)}, origin)
		}
	}
}

func valueText(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "{}"
	case yaml.SequenceNode:
		return "[]"
	default:
		return node.Value
	}
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
