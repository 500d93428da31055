package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
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
