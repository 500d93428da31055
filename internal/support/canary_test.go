package support_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/support"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

var planting = regexp.MustCompile(`CANARY\w\d`)

// The file has the values that an attacker planted in a stack and in its ConfigMap.
func TestPlantedValues(t *testing.T) {
	data, err := os.ReadFile("testdata/canary.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if count := len(planting.FindAll(data, -1)); count < 38 {
		t.Fatalf("only %d values are planted", count)
	}
	m := &support.Material{}
	for document := range strings.SplitSeq(string(data), "\n---\n") {
		m.Objects = append(m.Objects, parse(t, document))
	}
	m.Logs = []support.Log{{Namespace: "a", Pod: "p", Container: "c", Text: "mount -o username=u,pass=CANARYD8xxx failed"}}
	for name, text := range read(t, archive(t, m)) {
		for _, found := range planting.FindAllString(text, -1) {
			t.Errorf("%s contains %s", name, found)
		}
	}
}

// A value is planted in every field of the definition, in both versions. The archive shows only the fields that the
// golden file lists. A new field is in the archive only if it is added to the table of package redact, and then to this
// file.
func TestEveryField(t *testing.T) {
	data, err := os.ReadFile("../../config/crd/bases/llamastack.io_llamastackdistributions.yaml")
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
	for _, version := range definition.Spec.Versions {
		t.Run(version.Name, func(t *testing.T) {
			field := &field{values: map[string]string{}}
			object, _ := field.plant(version.Schema.OpenAPIV3Schema, "").(map[string]any)
			object["kind"], object["metadata"] = "LlamaStackDistribution", map[string]any{"name": "s", "namespace": "a"}
			if len(field.values) < 300 {
				t.Fatalf("only %d values are planted", len(field.values))
			}
			var shown []string
			text := archiveText(t, object)
			for _, value := range slices.Sorted(maps.Keys(field.values)) {
				if strings.Contains(text, value) {
					shown = append(shown, field.values[value])
				}
			}
			slices.Sort(shown)
			golden.Dir(t, "testdata/shown-"+version.Name, map[string][]byte{
				"fields.txt": []byte(strings.Join(shown, "\n") + "\n"),
			})
		})
	}
}

func archiveText(t *testing.T, object map[string]any) string {
	t.Helper()
	var text strings.Builder
	for _, file := range read(t, archive(t, &support.Material{Objects: []map[string]any{object}})) {
		text.WriteString(file)
	}
	return text.String()
}

// schema is the part of an OpenAPI schema from which the test makes an object.
type schema struct {
	Type                 string
	Properties           map[string]schema
	AdditionalProperties *schema
	Items                *schema
}

// field plants values, which it keeps by the path of their fields.
type field struct{ values map[string]string }

func (f *field) plant(s schema, path string) any {
	switch {
	case s.Properties != nil:
		object := map[string]any{}
		for name, property := range s.Properties {
			object[name] = f.plant(property, path+"."+name)
		}
		return object
	case s.AdditionalProperties != nil:
		return map[string]any{"x": f.plant(*s.AdditionalProperties, path+".*")}
	case s.Type == "array":
		return []any{f.plant(*s.Items, path+"[]")}
	case s.Type == "integer" || s.Type == "number" || s.Type == "boolean":
		return nil
	case s.Type == "string":
		return f.value(path)
	default: // a field without a type: a text is refused there or means little, so an object is planted
		return map[string]any{
			"a-new-field": f.value(path + ".a-new-field"), "headers": map[string]any{"X-Own": f.value(path + ".headers.*")},
			"list": []any{f.value(path + ".list[]")}, "inside": map[string]any{"name": f.value(path + ".inside.name")},
			"annotations": map[string]any{"x": f.value(path + ".annotations.*")},
		}
	}
}

func (f *field) value(path string) string {
	value := fmt.Sprintf("cAnArY%04dx", len(f.values))
	f.values[value] = path
	return value
}
