package draft

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// Origin says where a value of the configuration comes from.
type Origin struct {
	// Path is the field of the spec that asked for it, nil when none did.
	Path *field.Path
	// Note says it where no field does, or says more: "default of release 0.7".
	Note string
}

// FromBase is the origin of everything nobody wrote.
var FromBase = Origin{Note: "base"}

// From is the origin of what a field asks for.
func From(path *field.Path) Origin { return Origin{Path: path} }

// Derived is the origin of what follows from a field, which is a default: it gives way to what another field sets.
func Derived(path *field.Path, note string) Origin { return Origin{Path: path, Note: note} }

// String is the origin as a reader sees it.
func (o Origin) String() string {
	switch {
	case o.Path == nil:
		return o.Note
	case o.Note == "":
		return o.Path.String()
	default:
		return o.Path.String() + " (" + o.Note + ")"
	}
}

// Root is the root of the generated configuration, not to be changed.
func (r *Report) Root() *yaml.Node { return r.root }

// Explained is one value of the configuration with its origin.
type Explained struct {
	// Path in the configuration: providers.inference[2].config.base_url.
	Path string `json:"path"`
	// Value as it stands there; {} or [] for what is empty.
	Value string `json:"value"`
	// Origin as text.
	Origin string `json:"origin"`
}

// Explain lists every scalar and empty collection of the generated
// configuration, in its order, with where it comes from.
func (r *Report) Explain() []Explained {
	if r.root == nil {
		return nil
	}
	e := explainer{origins: r.origins}
	e.walk(r.root, "", FromBase)
	return e.found
}

type explainer struct {
	origins map[*yaml.Node]Origin
	found   []Explained
}

// walk hands the origin of a node on to what it holds.
func (e *explainer) walk(node *yaml.Node, path string, origin Origin) {
	if own, ok := e.origins[node]; ok {
		origin = own
	}
	if len(node.Content) == 0 {
		e.found = append(e.found, Explained{Path: path, Value: valueText(node), Origin: origin.String()})
		return
	}
	if node.Kind == yaml.SequenceNode {
		for i, item := range node.Content {
			e.walk(item, path+"["+strconv.Itoa(i)+"]", origin)
		}
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		e.walk(node.Content[i+1], JoinPath(path, node.Content[i].Value), origin)
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

// Finder finds places of the configuration by their paths, while the configuration
// does not change.
type Finder struct {
	top     *yaml.Node
	origins map[*yaml.Node]Origin
	// wide are the fields of the mappings with many keys that were looked at.
	wide map[*yaml.Node]*yamlnode.Fields
}

// NewFinder finds places of a draft.
func NewFinder(d *Draft) Finder {
	return Finder{top: d.Root, origins: d.report.origins, wide: make(map[*yaml.Node]*yamlnode.Fields)}
}

// OriginAt is the origin of the value at a path of the configuration. What lies
// below a value that a field wrote as it is (settings, metadata) lies below the
// field in the same way, so that the path goes on there.
func (f *Finder) OriginAt(path string) Origin {
	origin, node := FromBase, f.top
	steps := SplitPath(path)
	known := 0
	for i, step := range steps {
		if node = f.child(node, step); node == nil {
			break
		}
		if own, ok := f.origins[node]; ok {
			origin, known = own, i+1
		}
	}
	if origin.Path == nil || node == nil {
		return origin
	}
	for _, step := range steps[known:] {
		if i, err := strconv.Atoi(strings.Trim(step, "[]")); err == nil && strings.HasPrefix(step, "[") {
			origin.Path = origin.Path.Index(i)
		} else {
			origin.Path = origin.Path.Child(step)
		}
	}
	return origin
}

// SplitPath takes a.b[2].c apart: a, b, [2], c. A key may hold dots or brackets
// of its own; then the nearest value around it is found, which is good enough
// for a message.
func SplitPath(path string) []string {
	steps := strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
	return slices.DeleteFunc(steps, func(step string) bool { return step == "" })
}

// NodeAt is the value at a path of the configuration, nil when there is none.
func (f *Finder) NodeAt(path string) *yaml.Node {
	node := f.top
	for _, step := range SplitPath(path) {
		if node = f.child(node, step); node == nil {
			return nil
		}
	}
	return node
}

// narrow is the number of keys up to which a mapping is searched key by key.
const narrow = 16

func (f *Finder) child(node *yaml.Node, step string) *yaml.Node {
	if node.Kind == yaml.SequenceNode {
		i, err := strconv.Atoi(strings.Trim(step, "[]"))
		if err != nil || i < 0 || i >= len(node.Content) {
			return nil
		}
		return node.Content[i]
	}
	if yamlnode.Len(node) <= narrow {
		return yamlnode.Get(node, step)
	}
	fields := f.wide[node]
	if fields == nil {
		fields = yamlnode.FieldsOf(node)
		f.wide[node] = fields
	}
	return fields.Get(step)
}

// JoinPath is the path of a key below a path; either may be empty.
func JoinPath(path, key string) string {
	switch {
	case path == "":
		return key
	case key == "":
		return path
	default:
		return path + "." + key
	}
}
