package render_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// bases are the cases whose objects are stored completely: a stack of each version with the fewest fields that a stack
// can have.
var bases = []string{"minimal", "compat"}

// differences returns the golden files of a case: the kinds and names of its objects in their order, the changes to
// each object that is also in the base, and the complete text of all other objects.
func differences(t *testing.T, in render.Input, objects []render.Object) map[string][]byte {
	t.Helper()
	base := baseObjects(t, in.Stack)
	result := make(map[string][]byte)
	var order strings.Builder
	for _, object := range objects {
		fmt.Fprintf(&order, "%s %s\n", object.GVK.Kind, object.Name)
		sent, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		file := fileName(result, object)
		if of, found := base[object.GVK.Kind+" "+object.Name]; found {
			if changes := golden.Changes(of, sent.Object); len(changes) > 0 {
				result[file+".diff"] = changes
			}
			continue
		}
		if result[file+".yaml"], err = yaml.Marshal(sent.Object); err != nil {
			t.Fatal(err)
		}
	}
	result["objects.txt"] = []byte(order.String())
	return result
}

// fileName returns the kind of an object in lower case, with a number for the second and each later object of the kind.
func fileName(taken map[string][]byte, object render.Object) string {
	kind := strings.ToLower(object.GVK.Kind)
	for i, file := 1, kind; ; i++ {
		if i > 1 {
			file = fmt.Sprintf("%s-%d", kind, i)
		}
		if taken[file+".yaml"] == nil && taken[file+".diff"] == nil {
			return file
		}
	}
}

// baseObjects returns the objects of a stack's base, keyed by kind and name.
func baseObjects(t *testing.T, stack *v1alpha2.LlamaStackDistribution) map[string]map[string]any {
	t.Helper()
	name := bases[0]
	if profile.Of(stack.Annotations).V1alpha1 {
		name = bases[1]
	}
	objects, err := render.Objects(readInput(t, filepath.Join("testdata", name, "in.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]map[string]any)
	for _, object := range objects {
		sent, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		found[object.GVK.Kind+" "+object.Name] = sent.Object
	}
	return found
}
