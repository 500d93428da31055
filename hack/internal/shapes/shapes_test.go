package shapes_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/hack/internal/shapes"
)

// Each type has keys with a description, and examples that have only these keys.
func TestRead(t *testing.T) {
	fields, err := shapes.Read("../../../api/v1alpha2")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range shapes.Names() {
		known := map[string]bool{}
		for _, field := range fields[name] {
			known[field.Name] = true
			if !strings.HasPrefix(field.Doc, field.Name+" ") || strings.Contains(field.Doc, "FR-") {
				t.Errorf("%s.%s has the description %q", name, field.Name, field.Doc)
			}
		}
		if len(known) < 4 || len(shapes.Forms(name)) != 2 {
			t.Errorf("%s has the keys %v and %d shapes", name, known, len(shapes.Forms(name)))
		}
		for _, form := range shapes.Forms(name) {
			var value any
			if err := yaml.Unmarshal([]byte(form.Example), &value); err != nil {
				t.Fatal(err)
			}
			list, ok := value.([]any)
			if !ok {
				list = []any{value}
			}
			for _, item := range list {
				object, _ := item.(map[string]any)
				for key := range object {
					if !known[key] {
						t.Errorf("the example %s of %s has the unknown key %s", form.Example, name, key)
					}
				}
			}
		}
	}
	if _, err := shapes.Read("../../../api/v1alpha1"); err == nil {
		t.Error("v1alpha1 has no such types")
	}
}
