package manifest_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/manifest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// FuzzConvert checks that a manifest contains the converted values, whatever comments and strings the source contains,
// and that a second conversion to the same version does not change a manifest without comments.
func FuzzConvert(f *testing.F) {
	const cases = "../../cli/testdata/convert"
	for _, name := range []string{"comments", "providers", "attributes", "left-out", "live", "back", "back-made-here"} {
		f.Add(golden.Read(f, filepath.Join(cases, name, "in.yaml")))
	}
	for _, odd := range []string{
		"# a\n\n# b\nmetadata: {name: a}\nspec: # c\n  server: # d\n    distribution: {name: x} # e\n    # f\n# g\n",
		"metadata: {name: a}\nspec: {server: {containerSpec: {env: [{name: A, value: \"\\n a\\n\"}, {name: B, value: \"a \\nb\\t\\n\\n\"}]}}}\n",
		"metadata: {name: a, annotations: {a: \"#\", \"b: c\": \"- d\"}}\nspec: {server: &a {workers: 1}}\n",
		"metadata: {name: a}\nspec:\n  server:\n    args: |\n      # no comment\n      x\n",
	} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsAny(text, "&*") && len(text) > 1<<10 {
			return // aliases can expand to any number of values
		}
		for i, from := range convert.Versions {
			object, ok := decode(text)
			if !ok {
				return
			}
			object["apiVersion"], object["kind"] = from, "LlamaStackDistribution"
			first := check(t, object, text, convert.Versions[1-i])
			again, _ := decode(first)
			second := check(t, again, first, convert.Versions[1-i])
			if diff := cmp.Diff(string(first), string(second)); diff != "" && !bytes.ContainsRune(text, '#') {
				t.Fatalf("second conversion (-first +second):\n%s", diff)
			}
		}
	})
}

// check converts an object, and compares the manifest with the result of the conversion.
func check(t *testing.T, object map[string]any, text []byte, to string) []byte {
	t.Helper()
	result, err := manifest.Convert(manifest.Source{Object: object, Text: text}, to)
	testutil.Must(t, err)
	want := object // Convert has removed the fields that a server adds, and has added the defaults.
	switch {
	case want["apiVersion"] == to:
	case to == convert.Versions[1]:
		want = convert.ToHub(object)
	default:
		want = convert.FromHub(object)
	}
	got, ok := decode(result.YAML)
	if !ok {
		t.Fatalf("the manifest is not an object:\n%s", result.YAML)
	}
	if diff := cmp.Diff(normal(t, want), normal(t, got)); diff != "" {
		t.Fatalf("values (-conversion +manifest):\n%s\n%s", diff, result.YAML)
	}
	return result.YAML
}

// decode reads a manifest as kubectl does. It returns false if the text is not a manifest.
func decode(text []byte) (map[string]any, bool) {
	data, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	if decoder.Decode(&object) != nil || object == nil {
		return nil, false
	}
	_, ok := object["metadata"].(map[string]any)
	return object, ok
}

// normal writes numbers in a single form.
func normal(t *testing.T, object map[string]any) any {
	t.Helper()
	data, err := json.Marshal(object)
	testutil.Must(t, err)
	var value any
	testutil.Must(t, json.Unmarshal(data, &value))
	return value
}

func TestOrdered(t *testing.T) {
	got, err := manifest.Ordered(map[string]any{"b": json.Number("1"), "a": []any{"yes", "x"}})
	testutil.Must(t, err)
	if diff := cmp.Diff("a:\n- 'yes'\n- x\nb: 1\n", string(got)); diff != "" {
		t.Error(diff)
	}
}
