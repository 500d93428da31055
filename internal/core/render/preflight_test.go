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

func TestPreflightName(t *testing.T) {
	in := readInput(t, filepath.Join("testdata", "preflight", "in.yaml"))
	first, err := render.PreflightName("demo", renderedTemplate(t, in))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(first, names.PreflightPrefix("demo")) || len(first) != len(names.PreflightPrefix("demo"))+names.HashLength {
		t.Errorf("name %q", first)
	}
	in.Inputs += "0" // changed content of a Secret
	second, err := render.PreflightName("demo", renderedTemplate(t, in))
	if err != nil || second == first {
		t.Errorf("the pod for another change has the same name %q (error %v)", second, err)
	}
}

// If a change to the spec does not affect the pods, the preflight of the last change continues in the same pod.
func TestPreflightNameOfALaterGeneration(t *testing.T) {
	in := readInput(t, filepath.Join("testdata", "registry", "in.yaml"))
	first, err := render.PreflightName("demo", renderedTemplate(t, in))
	if err != nil {
		t.Fatal(err)
	}
	before := renderedTemplate(t, in).Annotations[names.AnnotationGeneration]
	in.Stack.Generation++
	later := renderedTemplate(t, in)
	if later.Annotations[names.AnnotationGeneration] == before {
		t.Fatalf("the template of a later generation has the same generation %q", before)
	}
	second, err := render.PreflightName("demo", later)
	if err != nil || second != first {
		t.Errorf("the pod for the later generation is %q, the pod for the earlier one is %q (error %v)", second, first, err)
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
