package main

import (
	"maps"
	"os"
	"slices"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// valid is the manifest that each mistake changes.
const valid = `
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: a}
spec:
  distribution: {name: starter}
`

// mistake describes a manifest with one mistake.
type mistake struct {
	// Release is the release line whose schema reports the mistake. If it is empty, the schema of the version reports the
	// mistake.
	Release string         `json:"release"`
	Spec    map[string]any `json:"spec"`
	// At lists the paths of the reported problems.
	At []string `json:"at"`
}

func mistakes(t *testing.T) map[string]mistake {
	t.Helper()
	data, err := os.ReadFile("testdata/wrong.yaml")
	testutil.Must(t, err)
	var found map[string]mistake
	testutil.Must(t, sigsyaml.UnmarshalStrict(data, &found))
	return found
}

// TestWrong checks that each mistake is reported at its path, and that there are no other errors.
func TestWrong(t *testing.T) {
	general := compile(t, "v1alpha2")
	if found := problems(t, general, parse(t, valid)); len(found) > 0 {
		t.Fatalf("the valid manifest: %v", found)
	}
	crd := definitionOf(t, "v1alpha2")
	for name, tt := range mistakes(t) {
		t.Run(name, func(t *testing.T) {
			object := parse(t, valid)
			spec, _ := object["spec"].(map[string]any)
			maps.Copy(spec, tt.Spec)
			schema := general
			if tt.Release != "" {
				if found := problems(t, general, object); len(found) > 0 {
					t.Errorf("the schema of the version reports %v", found)
				}
				schema = compile(t, "v1alpha2-"+tt.Release)
			} else if checked, _ := integers(object).(map[string]any); crd.refusal(t, checked) == "" && refusal(object) == "" {
				t.Error("the manifest is accepted")
			}
			var got []string
			for _, p := range problems(t, schema, object) {
				got = append(got, p.path)
			}
			if got = slices.Compact(got); !slices.Equal(got, tt.At) {
				t.Errorf("reported at %q, want %q", got, tt.At)
			}
		})
	}
}

// Mistakes outside the spec are also reported at their paths.
func TestWrongOutsideSpec(t *testing.T) {
	schema := compile(t, "v1alpha2")
	const head = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\n"
	const metadata, spec = "metadata: {name: a}\n", "spec: {distribution: {name: b}}\n"
	for text, want := range map[string]string{
		"apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\n" + metadata + spec: "apiVersion",
		"apiVersion: llamastack.io/v1alpha2\nkind: LlamaStack\n" + metadata + spec:             "kind",
		head + spec:     "metadata",
		head + metadata: "spec",
		head + "metadata: {name: a, annotations: {a: true}}\n" + spec: "metadata.annotations.a",
		head + metadata + spec + "data: {}\n":                         "data",
	} {
		var got []string
		for _, p := range problems(t, schema, parse(t, text)) {
			got = append(got, p.path)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s is reported at %q, want %q", text, got, want)
		}
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var object map[string]any
	testutil.Must(t, sigsyaml.Unmarshal([]byte(text), &object))
	return object
}
