package render_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/rendercase"
)

func readInput(t *testing.T, path string) render.Input {
	t.Helper()
	return rendercase.Input(t, path)
}

// files returns each object in the form in which it is sent to the API server, in a file numbered by its position in
// the apply order.
func files(t *testing.T, objects []render.Object) map[string][]byte {
	t.Helper()
	result := make(map[string][]byte)
	for i, object := range objects {
		sent, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		if object.GVK != sent.GroupVersionKind() || object.Name != sent.GetName() {
			t.Errorf("object %s %q is sent as %s %q", object.GVK, object.Name, sent.GroupVersionKind(), sent.GetName())
		}
		data, err := yaml.Marshal(sent.Object)
		if err != nil {
			t.Fatal(err)
		}
		result[fmt.Sprintf("%d-%s.yaml", i+1, strings.ToLower(object.GVK.Kind))] = data
	}
	return result
}

func TestObjects(t *testing.T) {
	for _, name := range golden.Cases(t, "testdata") {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			in := readInput(t, filepath.Join(dir, "in.yaml"))
			before := in.Stack.DeepCopy()
			objects, err := render.Objects(in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, in.Stack); diff != "" {
				t.Errorf("Objects changes its input:\n%s", diff)
			}
			got := differences(t, in, objects)
			if slices.Contains(bases, name) {
				got = files(t, objects)
			}
			golden.Dir(t, filepath.Join(dir, "want"), got)
		})
	}
}
