package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/casetable"
)

// definition checks the objects of one version in the same way as the API server.
type definition struct {
	schema validation.SchemaValidator
	tree   *structural.Structural
	rules  *cel.Validator
}

// definitionOf reads the part of the definition for a version, such as v1alpha2.
func definitionOf(t *testing.T, version string) *definition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testutil.Root(), "config/crd/bases/llamastack.io_llamastackdistributions.yaml"))
	testutil.Must(t, err)
	var crd apiextensionsv1.CustomResourceDefinition
	testutil.Must(t, sigsyaml.UnmarshalStrict(data, &crd))
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name != version {
			continue
		}
		var props apiextensions.JSONSchemaProps
		from := crd.Spec.Versions[i].Schema.OpenAPIV3Schema
		testutil.Must(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(from, &props, nil))
		validator, _, err := validation.NewSchemaValidator(&props)
		testutil.Must(t, err)
		tree, err := structural.NewStructural(&props)
		testutil.Must(t, err)
		return &definition{schema: validator, tree: tree, rules: cel.NewValidator(tree, true, celconfig.PerCallLimit)}
	}
	t.Fatalf("the definition has no version %s", version)
	return nil
}

// structure returns the first error of the API server's schema validation, without the CEL rules, or an empty string.
func (d *definition) structure(object map[string]any) string {
	if errs := validation.ValidateCustomResource(nil, object, d.schema); len(errs) > 0 {
		return errs[0].Error()
	}
	return ""
}

// refusal returns the reason why the API server rejects an object, or an empty string.
func (d *definition) refusal(t *testing.T, object map[string]any) string {
	t.Helper()
	if reason := d.structure(object); reason != "" {
		return reason
	}
	errs, _ := d.rules.Validate(t.Context(), nil, d.tree, object, nil, celconfig.RuntimeCELCostBudget)
	if len(errs) > 0 {
		return errs[0].Error()
	}
	return ""
}

// replacements are values that few fields accept.
var replacements = []any{
	"no such thing!", "", "1", int64(12345), int64(-1), int64(0), int64(1) << 40, 1.5, true, nil,
	[]any{},
	[]any{"a"},
	[]any{int64(1)},
	map[string]any{},
	map[string]any{"a": "b"},
	map[string]any{"name": int64(1)},
}

// TestMutations replaces values in the accepted cases. If several cases of a topic contain the same path, it replaces
// the value only in the first of these cases. The schema must reject every object that the structure of the definition
// rejects. It must accept every object that the definition and the pipeline accept.
func TestMutations(t *testing.T) {
	schema, crd := compile(t, "v1alpha2"), definitionOf(t, "v1alpha2")
	table, err := casetable.Load(filepath.Join(testutil.Root(), casetable.Folder))
	testutil.Must(t, err)
	seen, tried := map[string]bool{}, 0
	try := func(at string, object map[string]any) {
		tried++
		found := problems(t, schema, object)
		if reason := crd.structure(object); len(found) == 0 && reason != "" {
			t.Errorf("%s: the schema accepts an object that the definition rejects: %s", at, reason)
		}
		if len(found) > 0 && crd.refusal(t, object) == "" && refusal(object) == "" {
			t.Errorf("%s is accepted, but the schema reports %v", at, found)
		}
	}
	for _, c := range table.Cases {
		if len(c.Server)+len(c.Go) > 0 {
			continue
		}
		spec := integers(c.Object["spec"])
		eachValue(spec, "spec", func(path string, set func(any)) {
			if key := path + c.Topic; seen[key] {
				return
			}
			seen[path+c.Topic] = true
			for _, value := range replacements {
				set(value)
				try(fmt.Sprintf("%s=%v (%s/%s)", path, value, c.Topic, c.Name), map[string]any{
					"apiVersion": stack, "kind": "LlamaStackDistribution", "metadata": map[string]any{"name": "a"}, "spec": spec,
				})
			}
		})
	}
	t.Logf("%d mutations", tried)
}

// integers returns a copy of a value in which whole numbers have the type int64, as in an API server.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		result := map[string]any{}
		for key, inner := range v {
			result[key] = integers(inner)
		}
		return result
	case []any:
		result := make([]any, len(v))
		for i, inner := range v {
			result[i] = integers(inner)
		}
		return result
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return value
}

// eachValue calls the function visit for each value nested in a value. The second argument of visit is a function that
// replaces the nested value. eachValue restores the nested value after each call.
func eachValue(value any, path string, visit func(path string, set func(any))) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			old := v[key]
			eachValue(old, path+"."+key, visit)
			visit(path+"."+key, func(other any) { v[key] = other })
			v[key] = old
		}
	case []any:
		for i, old := range v {
			eachValue(old, strings.TrimSuffix(path, "[]")+"[]", visit)
			visit(path+"[]", func(other any) { v[i] = other })
			v[i] = old
		}
	}
}

// The description of each spec field without a type contains an example, because `kubectl explain` shows nothing else
// about such a field. The test recognizes an example by its brace.
func TestDescriptions(t *testing.T) {
	fields := 0
	for _, version := range []string{"v1alpha1", "v1alpha2"} {
		eachField(definitionOf(t, version).tree.Properties["spec"], "spec", func(path string, field structural.Structural) {
			if field.Type != "" || field.XIntOrString {
				return
			}
			fields++
			if !strings.Contains(field.Description, "{") {
				t.Errorf("%s: %s has no example: %q", version, path, field.Description)
			}
		})
	}
	if fields < 40 {
		t.Errorf("only %d fields without a type were found", fields)
	}
}

func eachField(field structural.Structural, path string, visit func(path string, field structural.Structural)) {
	visit(path, field)
	for name := range field.Properties {
		eachField(field.Properties[name], path+"."+name, visit)
	}
	if field.Items != nil {
		eachField(*field.Items, path+"[]", visit)
	}
	if field.AdditionalProperties != nil && field.AdditionalProperties.Structural != nil {
		eachField(*field.AdditionalProperties.Structural, path+"{}", visit)
	}
}
