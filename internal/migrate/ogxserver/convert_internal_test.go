package ogxserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// decode returns a document as JSON values.
func decode(text []byte) map[string]any {
	data, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object map[string]any
	if decoder.Decode(&object) != nil {
		return nil
	}
	return object
}

// manifests returns the manifests of the command-line tests.
func manifests(t testing.TB) map[string]map[string]any {
	t.Helper()
	const cases = "../../cli/testdata/ogxserver"
	found := make(map[string]map[string]any)
	for _, name := range golden.Cases(t, cases) {
		text := golden.Read(t, filepath.Join(cases, name, "in.yaml"))
		for i, document := range bytes.Split(text, []byte("\n---\n")) {
			if object := decode(document); object["kind"] == Kind {
				found[fmt.Sprintf("%s %d", name, i)] = object
			}
		}
	}
	return found
}

// fields returns the fields below a type of this package, for example spec.providers.inference.remote.vllm[].endpoint.
func fields(typ reflect.Type, at string) []string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Slice && strings.HasSuffix(typ.Elem().PkgPath(), "/ogxserver") || typ.Kind() == reflect.Slice && typ.Elem().Name() == "" {
		return fields(typ.Elem(), at+"[]")
	}
	if typ.Kind() != reflect.Struct || typ.Name() != "" && !strings.HasSuffix(typ.PkgPath(), "/ogxserver") {
		return []string{at}
	}
	var found []string
	for name, field := range typecheck.FieldsOf(typ) {
		found = append(found, fields(field, at+"."+name)...)
	}
	return found
}

// leaf is a value that is neither an object nor a list.
type leaf struct {
	at    []string
	value any
}

func leaves(value any, at []string) []leaf {
	var found []leaf
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, leaves(v[name], append(slices.Clone(at), name))...)
		}
	case []any:
		for i, item := range v {
			found = append(found, leaves(item, append(slices.Clone(at), fmt.Sprint(i)))...)
		}
	case nil:
	default:
		return []leaf{{at, value}}
	}
	return found
}

// lookup returns the value at a path. The path can lead through lists.
func lookup(value any, steps []string) any {
	for _, step := range steps {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// Together, the manifests contain every field of the kind, so that the tests cover all fields.
func TestManifestsHaveEveryField(t *testing.T) {
	given := make(map[string]bool)
	for _, object := range manifests(t) {
		for _, leaf := range leaves(object["spec"], []string{"spec"}) {
			var steps []string
			for _, step := range leaf.at {
				if strings.Trim(step, "0123456789") == "" {
					steps[len(steps)-1] += "[]"
					continue
				}
				steps = append(steps, step)
				given[shared(strings.Join(steps, "."))] = true
			}
			given[shared(strings.Join(steps, "."))] = true
		}
	}
	for _, field := range fields(reflect.TypeFor[spec](), "spec") {
		if !given[shared(field)] {
			t.Errorf("no manifest has %s", field)
		}
	}
}

// sharedFields matches fields that several kinds of providers have and that are converted in the same way.
var sharedFields = regexp.MustCompile(`\[\]\.(id|allowedModels|refreshModels|network)\b|\.custom\[\]|\.vectorStoresConfig\b`)

// shared returns a field without its kind of provider if several kinds have the field.
func shared(field string) string {
	if at := sharedFields.FindStringIndex(field); at != nil && strings.HasPrefix(field, "spec.providers.") {
		return field[at[0]:]
	}
	return field
}

// filled returns a value with every field of a type of this package. Each string in it is unique.
func filled(typ reflect.Type, at string) any {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch own := typ.Name() == "" || strings.HasSuffix(typ.PkgPath(), "/ogxserver"); {
	case typ.Kind() == reflect.Struct && own:
		object := make(map[string]any)
		for name, field := range typecheck.FieldsOf(typ) {
			if value := filled(field, at+"/"+name); value != nil {
				object[name] = value
			}
		}
		return object
	case typ.Kind() == reflect.Slice && (typ.Elem().PkgPath() == "" || strings.HasSuffix(typ.Elem().PkgPath(), "/ogxserver")):
		return []any{filled(typ.Elem(), at+"/0"), filled(typ.Elem(), at+"/1")}
	case typ.Kind() == reflect.Map && own:
		return map[string]any{"a": filled(typ.Elem(), at+"/a"), "b": filled(typ.Elem(), at+"/b")}
	case typ.Kind() == reflect.String:
		return at
	case typ.Kind() == reflect.Bool:
		return true
	case typ.Kind() == reflect.Int || typ.Kind() == reflect.Int32:
		return json.Number("1031")
	default:
		return nil
	}
}

// No value is lost. Each value of a spec is in the stack at the path that Place returns, or a message names the field.
func TestEveryValueIsSomewhere(t *testing.T) {
	all, _ := filled(reflect.TypeFor[spec](), "").(map[string]any)
	all["distribution"] = map[string]any{"image": "x"}
	objects := manifests(t)
	objects["every field"] = map[string]any{"apiVersion": APIVersion, "metadata": map[string]any{"name": "a"}, "spec": all}
	for name, object := range objects {
		t.Run(name, func(t *testing.T) {
			if problems := Check(object); len(problems) > 0 {
				t.Fatal(problems)
			}
			result := Convert(object)
			said := make(map[string]bool)
			for _, sentence := range result.LeftOut {
				field, _, _ := strings.Cut(sentence, ": ")
				said[field] = true
			}
			for _, leaf := range leaves(object["spec"], []string{"spec"}) {
				if !isSaid(said, leaf.at) && !isThere(&result, leaf) {
					t.Errorf("the value of %s, %v, is not in the stack at %s", fieldPath(leaf.at), leaf.value, fieldPath(result.Place(leaf.at)))
				}
			}
		})
	}
}

func isSaid(said map[string]bool, at []string) bool {
	for i := range at {
		if said[fieldPath(at[:i+1])] {
			return true
		}
	}
	return false
}

func isThere(result *Result, leaf leaf) bool {
	place, field := result.Place(leaf.at), fieldPath(leaf.at)
	switch {
	case strings.HasPrefix(field, "spec.network.policy."): // TestPolicy checks the converted namespaces
		return true
	// The converted value of these fields can differ from the original value if the result has a comment at the path of
	// the converted value.
	case slices.Contains([]any{dataVolume, json.Number("1")}, leaf.value):
		if slices.ContainsFunc(result.Comments, func(c Comment) bool { return slices.Equal(c.At, place) }) {
			return true
		}
	case strings.HasPrefix(field, "spec.distribution.name"):
		return strings.Contains(fmt.Sprint(lookup(result.Object, place)), fmt.Sprint(leaf.value))
	}
	for _, at := range [][]string{place, place[:len(place)-1]} {
		if fmt.Sprint(lookup(result.Object, at)) == fmt.Sprint(leaf.value) {
			return true
		}
	}
	return false
}

func TestPolicy(t *testing.T) {
	for name, tc := range map[string]struct {
		policy string
		want   any
		said   []string
	}{
		"none":        {"null", map[string]any{}, nil},
		"not enabled": {"{enabled: false, ingress: [{}]}", nil, []string{"spec.network.policy"}},
		"egress":      {"{egress: [{}]}", map[string]any{}, []string{"spec.network.policy.egress"}},
		"egress rules without the policy type": {
			"{policyTypes: [Ingress], egress: [{}]}",
			map[string]any{},
			[]string{"spec.network.policy.egress"},
		},
		"egress alone": {
			"{policyTypes: [Egress], egress: [{}]}",
			map[string]any{},
			[]string{"spec.network.policy.egress", "spec.network.policy.policyTypes"},
		},
		"egress without rules": {
			"{policyTypes: [Ingress, Egress]}",
			map[string]any{},
			[]string{"spec.network.policy.policyTypes"},
		},
		"namespaces": {"{ingress: [{from: [{namespaceSelector: {}}, {podSelector: {}}]}]}", map[string]any{"namespaces": []any{"*"}}, nil},
		"all clients": {
			"{ingress: [{}]}",
			map[string]any{"namespaces": []any{"*"}},
			[]string{"spec.network.policy.ingress[0].from"},
		},
		"another port": {
			"{ingress: [{ports: [{port: 80}]}]}",
			map[string]any{},
			[]string{"spec.network.policy.ingress[0].ports"},
		},
		"a range of ports":       {"{ingress: [{ports: [{port: 8321, endPort: 9000}]}]}", map[string]any{}, []string{"spec.network.policy.ingress[0].ports"}},
		"label twice":            {"{ingress: [{from: [{namespaceSelector: {matchLabels: {a: b}}}, {namespaceSelector: {matchLabels: {a: b}}}]}]}", map[string]any{"labels": []any{"a=b"}}, nil},
		"values":                 {"{ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: a, operator: In, values: [b, c]}]}}]}]}", map[string]any{"labels": []any{"a=b", "a=c"}}, nil},
		"pods of the namespace":  {"{ingress: [{from: [{podSelector: {matchLabels: {a: b}}}]}]}", map[string]any{}, []string{"spec.network.policy.ingress[0].from[0]"}},
		"pods of all namespaces": {"{ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {a: b}}}]}]}", map[string]any{}, []string{"spec.network.policy.ingress[0].from[0]"}},
	} {
		t.Run(name, func(t *testing.T) {
			object := decode([]byte("apiVersion: " + APIVersion + "\nmetadata: {name: a}\nspec: {distribution: {name: starter}, monitoring: {enabled: false}, " +
				"network: {policy: " + tc.policy + "}}"))
			if problems := Check(object); len(problems) > 0 {
				t.Fatal(problems)
			}
			result := Convert(object)
			if diff := cmp.Diff(tc.want, at(result.Object, "spec", "networking", "allowedFrom")); diff != "" {
				t.Errorf("allowedFrom (-want +got):\n%s", diff)
			}
			var said []string
			for _, sentence := range result.LeftOut {
				if field, _, _ := strings.Cut(sentence, ": "); field != "spec.monitoring" {
					said = append(said, field)
				}
			}
			if diff := cmp.Diff(tc.said, said); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzConvert checks that every object that Check accepts becomes a stack that fits the types of its API, that the
// object does not change, and that two conversions of the same object result in the same stack.
func FuzzConvert(f *testing.F) {
	for _, object := range manifests(f) {
		text, err := yaml.Marshal(object)
		testutil.Must(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.ContainsAny(text, "&*") && len(text) > 1<<10 {
			return // aliases can expand to any number of values
		}
		object := decode(text)
		if object == nil || len(Check(object)) > 0 {
			return
		}
		before, _ := json.Marshal(object)
		result := Convert(object)
		if _, problems := typecheck.Check(result.Object,
			reflect.TypeFor[v1alpha2.LlamaStackDistribution]()); len(problems) > 0 {
			t.Errorf("the result does not fit its types: %v", problems)
		}
		if after, _ := json.Marshal(object); !bytes.Equal(before, after) {
			t.Errorf("the object is changed:\n%s\n%s", before, after)
		}
		again := Convert(decode(before))
		if diff := cmp.Diff(result, again, cmp.AllowUnexported(Result{})); diff != "" {
			t.Errorf("two conversions differ (-first +second):\n%s", diff)
		}
	})
}
