package planted

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// Value is a marked value in a field of a stack.
type Value struct {
	// Version is the API version, and Field is the path of the field, for example spec.workload.overrides.args[].
	Version, Field string
	// Text is the marked value.
	Text string
	// Object is a stack that contains only this value and, if it is valid without the value, only what it needs.
	Object map[string]any
}

var marked = regexp.MustCompile(`cAnArY[0-9]{4}x`)

// schema is the part of an OpenAPI schema that names the fields.
type schema struct {
	Type                 string
	Properties           map[string]schema
	AdditionalProperties *schema
	Items                *schema
}

// Values returns a value for each field in the spec and the status, in all versions of the definition.
func Values(t *testing.T) []Value {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(worktree.Root(), "config/crd/bases/llamastack.io_llamastackdistributions.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := yaml.Unmarshal(data, &definition); err != nil {
		t.Fatal(err)
	}
	var found []Value
	for _, version := range definition.Spec.Versions {
		for _, top := range []string{"spec", "status"} {
			visit(version.Schema.OpenAPIV3Schema.Properties[top], []string{top}, func(path []string) {
				found = append(found, newValue(version.Name, path, len(found)))
			})
		}
	}
	return found
}

// visit calls the function with the path of each field that can contain text. The step "[]" is an item of a list, and
// "*" is any key.
func visit(s schema, path []string, leaf func([]string)) {
	below := func(step string) []string { return append(slices.Clone(path), step) }
	switch {
	case s.Properties != nil:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			visit(s.Properties[name], below(name), leaf)
		}
	case s.AdditionalProperties != nil:
		visit(*s.AdditionalProperties, below("*"), leaf)
	case s.Type == "array":
		visit(*s.Items, below("[]"), leaf)
	case s.Type == "boolean":
	case s.Type == "":
		// A field without a type also accepts objects.
		for _, inside := range [][]string{
			{},
			{"a-new-field"},
			{"a-new-field", "name"},
			{"a-new-list", "[]"},
			{"headers", "*"},
			{"annotations", "*"},
			{"settings", "a_new_setting"},
			{"settings", "headers", "*"},
			{"settings", "api_key"},
		} {
			leaf(slices.Concat(path, inside))
		}
	default:
		leaf(path)
	}
}

func newValue(version string, path []string, number int) Value {
	text := fmt.Sprintf("cAnArY%04dx", number)
	object := map[string]any{
		"apiVersion": "llamastack.io/" + version, "kind": "LlamaStackDistribution",
		"metadata": map[string]any{"name": fmt.Sprintf("s%d", number), "namespace": "a"},
	}
	starter := map[string]any{"distribution": map[string]any{"name": "starter"}}
	object["spec"] = starter
	if version == "v1alpha1" {
		object["spec"] = map[string]any{"server": starter}
	}
	top, _ := object[path[0]].(map[string]any)
	if top == nil {
		top = map[string]any{}
	}
	object[path[0]] = put(top, path[1:], text)
	return Value{
		Version: version, Field: strings.ReplaceAll(strings.Join(path, "."), ".[]", "[]"), Text: text, Object: object,
	}
}

// put returns a value with a text at a path.
func put(in any, path []string, text string) any {
	if len(path) == 0 {
		return text
	}
	if path[0] == "[]" {
		return []any{put(nil, path[1:], text)}
	}
	fields, is := in.(map[string]any)
	if !is {
		fields = map[string]any{}
	}
	key := strings.ReplaceAll(path[0], "*", "x")
	fields[key] = put(fields[key], path[1:], text)
	return fields
}

// Shown returns, for each version, the sorted fields whose values a text contains, one on each line.
func Shown(values []Value, text string) map[string][]byte {
	contained := map[string]bool{}
	for _, found := range marked.FindAllString(text, -1) {
		contained[found] = true
	}
	fields := map[string][]string{}
	for _, value := range values {
		fields[value.Version] = append(fields[value.Version], "")
		if contained[value.Text] {
			fields[value.Version] = append(fields[value.Version], value.Field)
		}
	}
	files := map[string][]byte{}
	for version, names := range fields {
		slices.Sort(names)
		files[version+".txt"] = []byte(strings.TrimLeft(strings.Join(slices.Compact(names), "\n"), "\n") + "\n")
	}
	return files
}
