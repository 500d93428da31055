package validate_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

// The samples, and the complete example from the requirements, have no errors that depend only on the object.
func TestSamplesAreValid(t *testing.T) {
	files, err := filepath.Glob("../../../config/samples/v1alpha2-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	files = append(files, "../../cli/testdata/spec-example-as-it-stands.yaml")
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, obj := range stacks(t, file) {
				if _, _, errs := validate.Spec(obj); len(errs) > 0 {
					t.Errorf("Spec: %s", intent.Messages(errs))
				}
			}
		})
	}
}

func stacks(t *testing.T, file string) []*v1alpha2.LlamaStackDistribution {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []*v1alpha2.LlamaStackDistribution
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
	for {
		obj := &v1alpha2.LlamaStackDistribution{}
		if err := decoder.Decode(obj); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if obj.Kind == v1alpha2.Kind {
			found = append(found, obj)
		}
	}
	if len(found) == 0 {
		t.Fatal("no object")
	}
	return found
}
