package mutation

import (
	"embed"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

//go:embed stacks/*.yaml
var stacks embed.FS

// Stacks returns valid stacks of both versions, by name. Together, they have nearly every field.
func Stacks() (map[string]map[string]any, error) {
	files, err := stacks.ReadDir("stacks")
	if err != nil {
		return nil, err
	}
	found := map[string]map[string]any{}
	for _, file := range files {
		data, err := stacks.ReadFile("stacks/" + file.Name())
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if err := yaml.Unmarshal(data, &object); err != nil {
			return nil, fmt.Errorf("decode %q: %w", file.Name(), err)
		}
		found[strings.TrimSuffix(file.Name(), ".yaml")] = object
	}
	return found, nil
}

// Mutation is a random change to one place in a tree of JSON values.
type Mutation struct {
	*rand.Rand
	// Done describes the last change.
	Done string
}

// The values of changes. Many of them are valid in some fields and invalid in others.
var (
	words = []string{
		"", "A_b", "a b", "../x", "x", "-a", "a/b/c", "a/b", strings.Repeat("a", 64), strings.Repeat("a", 254), "Nope", "1",
		"10.0.0.1", "Exists", "In", "Gt", "Never", "a.b", "limits.memory", "/x", "-1", "500m", "3Mi", "Localhost", "UDP",
		"${env.X}", "http://a", "redis", "postgres",
	}
	numbers = []int64{-1, 0, 1, 2, 101, 600, 1000, 65535, 65536, 1 << 31}
	keys    = []string{
		"gpu", "a b", "example.com/x", "hugepages-2Mi", "emptyDir", "configMap", "secretRef", "configMapRef", "exec",
		"httpGet", "value", "valueFrom", "subPath", "operator", "x", "id", "provider", "image", "name",
	}
	others = []any{nil, "x", int64(1), 1.5, true, []any{}, map[string]any{}, []any{nil}, map[string]any{"name": "x"}}
)

// Change changes one place below one of the keys of an object.
func (m *Mutation) Change(object map[string]any, below ...string) {
	at := below[m.IntN(len(below))]
	object[at] = m.value(object[at], at)
}

// value returns a value that is changed somewhere.
func (m *Mutation) value(value any, path string) any {
	if m.IntN(100) == 0 {
		return m.other(path)
	}
	switch value := value.(type) {
	case map[string]any:
		return m.object(value, path)
	case []any:
		return m.list(value, path)
	case string:
		word := words[m.IntN(len(words))]
		m.Done = fmt.Sprintf("%s: %q", path, word)
		return word
	case bool:
		m.Done = fmt.Sprintf("%s: %t", path, !value)
		return !value
	default:
		number := numbers[m.IntN(len(numbers))]
		m.Done = fmt.Sprintf("%s: %d", path, number)
		return number
	}
}

// other returns a value that often has another type.
func (m *Mutation) other(path string) any {
	value := others[m.IntN(len(others))]
	m.Done = fmt.Sprintf("%s: %v", path, value)
	return runtime.DeepCopyJSONValue(value)
}

func (m *Mutation) list(items []any, path string) any {
	switch {
	case len(items) > 0 && m.IntN(8) > 0:
		i := m.IntN(len(items))
		items[i] = m.value(items[i], fmt.Sprintf("%s[%d]", path, i))
		return items
	case len(items) > 0 && m.IntN(2) == 0:
		m.Done = path + " repeated"
		return append(items, runtime.DeepCopyJSONValue(items[0]))
	default:
		m.Done = path + " empty"
		return []any{}
	}
}

func (m *Mutation) object(object map[string]any, path string) any {
	names := slices.Sorted(maps.Keys(object))
	if len(names) == 0 || m.IntN(12) == 0 {
		key := keys[m.IntN(len(keys))]
		object[key] = m.other(path + "." + key)
		return object
	}
	name := names[m.IntN(len(names))]
	if m.IntN(10) == 0 {
		m.Done = fmt.Sprintf("%s without %s", path, name)
		delete(object, name)
		return object
	}
	object[name] = m.value(object[name], path+"."+name)
	return object
}
