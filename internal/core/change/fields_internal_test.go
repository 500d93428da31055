package change

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func TestCompareFields(t *testing.T) {
	for name, tc := range map[string]struct {
		before, after string
		want          []Field
	}{
		"no difference":    {"a: 1", "a: 1", nil},
		"a value":          {"spec: {type: one}", "spec: {type: two}", []Field{{"spec.type", "one", "two"}}},
		"the name":         {"metadata: {name: a}", "metadata: {name: b}", nil},
		"a new object":     {"{}", "spec: {port: 1}", []Field{{"spec", "", `{"port":1}`}}},
		"a key with a dot": {"limits: {}", "limits: {a/b: '1'}", []Field{{"limits[a/b]", "", "1"}}},
		"entries by name": {
			"containers: [{name: a, image: '1'}, {name: b, image: '1'}]", "containers: [{name: b, image: '2'}, {name: a, image: '1'}]",
			[]Field{{"containers[b].image", "1", "2"}},
		},
		"a list of texts": {"accessModes: [a]", "accessModes: [a, b]", []Field{{"accessModes", `["a"]`, `["a","b"]`}}},
		"a file": {
			"{kind: ConfigMap, data: {f: a}}", "{kind: ConfigMap, data: {f: b}}",
			[]Field{{"data.f", "1 bytes (before)", "1 bytes (after)"}},
		},
		"a new field": {
			"spec: {new: {name: a}}", "spec: {new: {name: b}}",
			[]Field{{"spec.new.name", "<redacted> (before)", "<redacted> (after)"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after map[string]any
			err := errors.Join(yaml.Unmarshal([]byte(tc.before), &before), yaml.Unmarshal([]byte(tc.after), &after))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, compare(before, after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// For long values that differ near their end, only the ends are shown.
func TestArrowOfLongValues(t *testing.T) {
	same := strings.Repeat("a", 100)
	if got, want := arrow(same+"-one", same+"-two"), "…aaaaaaaaaaa-one -> …aaaaaaaaaaa-two"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := arrow(same, same), strings.Repeat("a", 59)+"… -> "+strings.Repeat("a", 59)+"…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProvider(t *testing.T) {
	for path, want := range map[string]string{
		"providers.inference[vllm].provider_type":        "inference/vllm",
		"providers.inference[vllm].provider_id":          "",
		"providers.inference[vllm].config.provider_type": "",
		"server.port":                                     "",
		"providers.inference[a/b].provider_type":          "inference/a/b",
		"registered_resources.models[m].provider_type[0]": "",
	} {
		if got := provider(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// The time for a comparison of lines is bounded.
func TestDiffOfLongTexts(t *testing.T) {
	object := func(lines int, last string) map[string]any {
		files := map[string]any{"config.yaml": "apis:\n" + strings.Repeat("- a\n", lines) + last}
		return map[string]any{"kind": "ConfigMap", "data": files}
	}
	for last, want := range map[string]string{
		"- b\n": "# ConfigMap/c has too many lines to compare: 20005 before, 20005 after\n", "- a\n": "",
	} {
		c := Change{Objects: []Object{{
			Action: Changed, Kind: "ConfigMap", Name: "c", before: object(20_000, "- a\n"), after: object(20_000, last),
		}}}
		var page bytes.Buffer
		if err := c.WriteDiff(&page); err != nil || page.String() != want {
			t.Errorf("%.200s, %v; want %q", page.String(), err, want)
		}
	}
}
