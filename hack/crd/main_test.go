package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

const definition = "../../config/crd/bases/llamastack.io_llamastackdistributions.yaml"

func TestFinishIsStable(t *testing.T) {
	data, err := os.ReadFile(definition)
	if err != nil {
		t.Fatal(err)
	}
	got, err := finish(data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, data) {
		t.Error("finishing a finished definition changes it: run make generate")
	}
}

func TestFinish(t *testing.T) {
	const start = `
spec:
  versions:
  - name: v1alpha2
    schema:
      openAPIV3Schema:
        properties:
          spec:
            properties:
              workload:
                properties:
`
	var b strings.Builder
	b.WriteString(start)
	fields := embedded["v1alpha2"]
	for _, path := range fields {
		if name, ok := strings.CutPrefix(path, "spec.workload."); ok && !strings.Contains(name, ".") {
			b.WriteString("                  " + name + ": {type: array, description: kept, items: {description: gone, properties: {description: {type: string, description: gone}}}}\n")
		}
	}
	b.WriteString("                  overrides:\n                    properties:\n")
	for _, path := range fields {
		if name, ok := strings.CutPrefix(path, "spec.workload.overrides."); ok {
			b.WriteString("                      " + name + ": {type: array, description: kept, items: {description: gone}}\n")
		}
	}
	got, err := finish([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "gone") {
		t.Errorf("a description is left:\n%s", got)
	}
	if n := strings.Count(string(got), "kept"); n != len(fields) {
		t.Errorf("%d of %d descriptions were kept:\n%s", n, len(fields), got)
	}
	if !strings.Contains(string(got), "description: {type: string}") {
		t.Errorf("the property with the name description is removed:\n%s", got)
	}
}

func TestFinishMissingField(t *testing.T) {
	_, err := finish([]byte("spec: {versions: [{name: v1alpha1, schema: {openAPIV3Schema: {properties: {spec: {}}}}}]}"))
	if first := embedded["v1alpha1"][0]; err == nil || !strings.Contains(err.Error(), first) {
		t.Errorf("got %v, want an error that names %s", err, first)
	}
}

// The definition bounds every text that the API server parses as a number, and is within the size that the annotation
// of `kubectl apply` has room for.
func TestBounds(t *testing.T) {
	data, err := os.ReadFile(definition)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := yaml.Unmarshal(data, &root); err != nil {
		t.Fatal(err)
	}
	compact, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(compact) >= maxDefinition {
		t.Errorf("the definition has %d bytes of JSON, want fewer than %d", len(compact), maxDefinition)
	}
	quantities := 0
	each(root, func(schema map[string]any) {
		if schema["x-kubernetes-int-or-string"] != true {
			return
		}
		if schema["maxLength"] != quantity.MaxLength {
			t.Errorf("a number that can be text has no maximum length: %v", schema)
		}
		if schema["pattern"] != nil {
			quantities++
			if schema["pattern"] != quantity.Form {
				t.Errorf("the pattern of a quantity is %v", schema["pattern"])
			}
		}
	})
	if quantities < 18 {
		t.Errorf("found only %d quantities", quantities)
	}
}

// maxDefinition is the maximum size of the definition as JSON.
const maxDefinition = 160_000

// each calls visit for every mapping in a tree.
func each(node any, visit func(map[string]any)) {
	switch node := node.(type) {
	case map[string]any:
		visit(node)
		for _, child := range node {
			each(child, visit)
		}
	case []any:
		for _, child := range node {
			each(child, visit)
		}
	}
}
