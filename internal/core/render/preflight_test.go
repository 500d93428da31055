package render_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// preflightCases are the cases that include, in addition to the objects of a stack, the objects for a preflight.
var preflightCases = map[string]render.Preflight{
	"preflight":         {Constraint: "restricted-v2"},
	"preflight-options": {Derived: map[string][]byte{"kv-host": []byte("redis")}},
	// The pods share a store, and the entrypoint is unknown.
	"registry-entrypoint-unknown": {},
	// The container that installs external providers has neither the registry's variables nor its own store.
	"external-openshift": {Constraint: "restricted-v2"},
}

func TestPreflightObjects(t *testing.T) {
	for name, preflight := range preflightCases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join("testdata", name)
			in := readInput(t, filepath.Join(dir, "in.yaml"))
			preflight.Template = renderedTemplate(t, in)
			objects, err := render.PreflightObjects(in, preflight)
			if err != nil {
				t.Fatal(err)
			}
			golden.Dir(t, filepath.Join(dir, "preflight"), preflightFiles(t, preflight.Template, objects))
			again, err := render.PreflightObjects(in, preflight)
			if err != nil {
				t.Fatal(err)
			}
			// The first call did not change the template.
			golden.Dir(t, filepath.Join(dir, "preflight"), preflightFiles(t, preflight.Template, again))
		})
	}
}

// preflightFiles returns the golden files of a preflight: the changes that the pod makes to the template, and the
// complete text of all other objects.
func preflightFiles(
	t *testing.T, template *corev1ac.PodTemplateSpecApplyConfiguration, objects []render.Object,
) map[string][]byte {
	t.Helper()
	found := files(t, objects)
	data, err := yaml.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	pod := fmt.Sprintf("%d-pod", len(objects))
	var before, after map[string]any
	if err := errors.Join(yaml.Unmarshal(data, &before), yaml.Unmarshal(found[pod+".yaml"], &after)); err != nil {
		t.Fatal(err)
	}
	delete(found, pod+".yaml")
	found[pod+".diff"] = golden.Changes(before, after)
	return found
}

// The selector of a stack's pods does not match the preflight pod. The selector of preflight pods does.
func TestNoSelectorMatchesPreflight(t *testing.T) {
	labels := names.PreflightLabels("demo")
	for key, value := range names.Selector("demo") {
		if labels[key] == value && key != names.LabelInstance {
			t.Errorf("label %s is in the selector", key)
		}
	}
	for key, value := range names.PreflightSelector("demo") {
		if labels[key] != value {
			t.Errorf("label %s=%s is missing", key, value)
		}
	}
}

// The name of the pod depends on the change. If a later change does not affect the pods, the preflight continues in the
// same pod.
func TestPreflightName(t *testing.T) {
	in := readInput(t, filepath.Join("testdata", "registry", "in.yaml"))
	name := func() string {
		found, err := render.PreflightName("demo", renderedTemplate(t, in))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first, before := name(), renderedTemplate(t, in).Annotations[names.AnnotationGeneration]
	if rest, ok := strings.CutPrefix(first, names.PreflightPrefix("demo")); !ok || len(rest) != names.HashLength {
		t.Errorf("name %q", first)
	}
	in.Stack.Generation++
	if later := renderedTemplate(t, in).Annotations[names.AnnotationGeneration]; later == before || name() != first {
		t.Errorf("the pod for generation %q is %q, the pod for generation %q is %q", before, first, later, name())
	}
	in.Inputs += "0" // changed content of a Secret
	if name() == first {
		t.Errorf("the pod for another change has the same name %q", first)
	}
}

func TestSharedVolumes(t *testing.T) {
	for name, want := range map[string]string{"preflight": "", "preflight-options": "models"} {
		in := readInput(t, filepath.Join("testdata", name, "in.yaml"))
		if got := strings.Join(render.SharedVolumes(in, renderedTemplate(t, in)), " "); got != want {
			t.Errorf("%s: shared volumes %q, want %q", name, got, want)
		}
	}
}
