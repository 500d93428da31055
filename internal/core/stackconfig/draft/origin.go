package draft

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Origin is the origin of a value in the configuration.
type Origin struct {
	// Path is the field of the spec that set the value. Nil means that no field set it.
	Path *field.Path
	// Note describes the origin if Path is nil, and otherwise adds details to Path, for example "default of release 0.7".
	Note string
}

// FromBase is the origin of every value that comes unchanged from the base configuration.
var FromBase = Origin{Note: "base"}

// From returns the origin of a value that a field sets.
func From(path *field.Path) Origin { return Origin{Path: path} }

// Derived returns the origin of a value that is derived from a field. Such a value is a default, which another field
// can replace.
func Derived(path *field.Path, note string) Origin { return Origin{Path: path, Note: note} }

// String returns the origin as text for users.
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

// Finder finds values in a configuration by their paths. The configuration must not change while a Finder is in use.
type Finder struct {
	top     *yaml.Node
	origins map[*yaml.Node]Origin
	// wide caches the fields of mappings with many keys.
	wide map[*yaml.Node]*yamlnode.Fields
}

// NewFinder returns a Finder for a draft.
func NewFinder(d *Draft) Finder {
	return Finder{top: d.Root, origins: d.report.origins, wide: make(map[*yaml.Node]*yamlnode.Fields)}
}

// OriginAt returns the origin of the value at a path in the configuration. If there is no such value, OriginAt returns
// the origin of the nearest value that would contain it. A value that a field wrote unchanged (settings, metadata) has
// the same structure as the field, so the rest of the path applies to the field.
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

// SplitPath splits a.b[2].c into a, b, [2], c. For a key that contains dots or brackets, the parts lead only to the
// nearest surrounding value, which is accurate enough for a message.
func SplitPath(path string) []string {
	steps := strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
	return slices.DeleteFunc(steps, func(step string) bool { return step == "" })
}

// NodeAt returns the value at a path in the configuration, or nil when there is none.
func (f *Finder) NodeAt(path string) *yaml.Node {
	node := f.top
	for _, step := range SplitPath(path) {
		if node = f.child(node, step); node == nil {
			return nil
		}
	}
	return node
}

// narrow is the maximum number of keys in a mapping that is searched key by key.
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

// JoinPath returns the path of a key below a path. Either can be empty.
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
