package controller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/facts"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// TestSamePlan checks that the facts of the operator and those in files lead to the same objects, for every manifest of
// test/contract except one with an image that only the operator reads, on OpenShift and elsewhere.
func TestSamePlan(t *testing.T) {
	files, err := filepath.Glob("../../../test/contract/testdata/cases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	for _, file := range files {
		for _, openShift := range []bool{false, true} {
			name := strings.TrimSuffix(filepath.Base(file), ".yaml")
			if name == "image" { // the operator reads this image, and the command line reads no images
				continue
			}
			if openShift {
				name += " on OpenShift"
			}
			t.Run(name, func(t *testing.T) { checkSamePlan(t, file, openShift) })
		}
	}
}

func checkSamePlan(t *testing.T, file string, openShift bool) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := dryrun.Gather(document.Parse(file, data, false), "team")
	m.Platform = facts.Platform{OpenShift: openShift, Serves: func(schema.GroupVersionKind) bool { return false }}
	var objects []client.Object
	for key, object := range m.ConfigMaps {
		object.Namespace = key.Namespace
		objects = append(objects, object)
	}
	for key, object := range m.Secrets {
		object.Namespace = key.Namespace
		objects = append(objects, object)
	}
	for _, s := range m.Stacks {
		s.Object.SetGroupVersionKind(v1alpha2.GroupVersionKind)
		s.Object.UID, s.Object.Generation = "uid", 1
		offline := m.Plan(s)
		if offline.Plan == nil {
			t.Fatal(offline.Errors)
		}
		f := newFixture(t, objects...)
		f.openShift, f.version = openShift, "" // the command line does not know the version of the operator
		found, err := f.runSteps(t, s.Object, "plan")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(contents(t, found.planned.plan), contents(t, offline.Plan)); diff != "" {
			t.Errorf("objects of the operator (-), and of the command line (+):\n%s", diff)
		}
	}
}

// contents returns the objects of a plan, with the record of what the plan was made from.
func contents(t *testing.T, built *plan.Plan) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, object := range built.Objects {
		content, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content.Object)
	}
	return all
}
