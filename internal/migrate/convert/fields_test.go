package convert_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// Every field must be in the conversion table, or in the golden lists of fields without a counterpart, so that no new
// field is forgotten.
func TestFieldsWithoutCounterpart(t *testing.T) {
	files := make(map[string][]byte)
	for _, version := range []struct {
		name string
		spec reflect.Type
	}{
		{"v1alpha1", reflect.TypeFor[v1alpha1.LlamaStackDistributionSpec]()},
		{"v1alpha2", reflect.TypeFor[v1alpha2.LlamaStackDistributionSpec]()},
	} {
		fields := leaves(version.spec, []string{"spec"})
		if len(fields) < 25 {
			t.Fatalf("%s: found only %d fields", version.name, len(fields))
		}
		var without strings.Builder
		for _, field := range fields {
			other, _ := convertAndBack(field.object("llamastack.io/" + version.name))
			if lost(t, other, "/"+strings.Join(field.path, "/")) {
				without.WriteString(strings.Join(field.path, ".") + "\n")
			}
		}
		files[version.name+".txt"] = []byte(without.String())
	}
	golden.Dir(t, "testdata/without", files)
}

// lost reports whether a field is in the annotation, alone or as part of an object.
func lost(t *testing.T, other tree, field string) bool {
	t.Helper()
	var carried struct{ Lost []struct{ Path string } }
	text, ok := at(other, "metadata", "annotations")[conversionData].(string)
	if !ok {
		return false
	}
	testutil.Must(t, json.Unmarshal([]byte(text), &carried))
	for _, loss := range carried.Lost {
		if loss.Path == field || strings.HasPrefix(field, loss.Path+"/") {
			return true
		}
	}
	return false
}

type leaf struct {
	path []string
	kind reflect.Kind
}

// leaves returns the fields of the types in this repository, down to Kubernetes types and arbitrary JSON.
func leaves(typ reflect.Type, path []string) []leaf {
	var found []leaf
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		below := append(slices.Clone(path), name)
		if inner.Kind() == reflect.Struct && strings.Contains(inner.PkgPath(), "llamastack") && !keepsJSON(inner) {
			found = append(found, leaves(inner, below)...)
			continue
		}
		found = append(found, leaf{below, inner.Kind()})
	}
	return found
}

// keepsJSON reports whether a type keeps the JSON text of a value.
func keepsJSON(typ reflect.Type) bool {
	_, raw := typ.FieldByName("Raw")
	return raw
}

// required maps each field to the other fields, in the same object, without which it has no meaning.
var required = map[string]tree{
	"autoscaling": {"maxReplicas": json.Number("5")},
	"userConfig":  {"configMapName": "config"},
	"caBundle":    {"configMapName": "config"},
}

// object returns an object with only one field and the fields that it requires.
func (l leaf) object(apiVersion string) tree {
	var value any = "x"
	switch l.kind {
	case reflect.Bool:
		value = true
	case reflect.Int32, reflect.Int64:
		value = json.Number("5")
	default:
	}
	for i, step := range slices.Backward(l.path[1:]) {
		parent := tree{}
		maps.Copy(parent, required[l.path[i]])
		parent[step] = value
		value = parent
	}
	return tree{"apiVersion": apiVersion, "metadata": tree{"name": "a"}, "spec": value}
}

// The table of region keys agrees with the data of the releases.
func TestRegionKeys(t *testing.T) {
	checked := 0
	for _, line := range release.Lines() {
		known, err := release.Lookup(line)
		testutil.Must(t, err)
		for _, api := range known.Release.APIs() {
			for _, name := range known.Release.ProviderTypes(api) {
				provider, _ := known.Release.Provider(api, name)
				if provider.RegionKey == "" {
					continue
				}
				checked++
				hub, _ := convertAndBack(tree{
					"apiVersion": v1alpha1.GroupVersion.String(), "metadata": tree{"name": "a"},
					"spec": tree{"server": tree{"providers": tree{"inference": tree{"provider": name, "region": "here"}}}},
				})
				if at(hub, "spec", "providers", "inference", "settings")[provider.RegionKey] != "here" {
					t.Errorf("%s: %s %s: region is not %q: %v", line, api, name, provider.RegionKey, at(hub, "spec"))
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no release has a provider with a region")
	}
}
