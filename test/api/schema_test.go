package api

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const definitionFile = "config/crd/bases/llamastack.io_llamastackdistributions.yaml"

// kubernetes lists the nodes whose type is defined by Kubernetes.
var kubernetes = []string{
	"spec.workload.resources",
	"spec.workload.topologySpreadConstraints",
	"spec.workload.overrides.imagePullSecrets",
	"spec.workload.overrides.env",
	"spec.workload.overrides.envFrom",
	"spec.workload.overrides.volumes",
	"spec.workload.overrides.volumeMounts",
	"status.conditions",
}

func readDefinition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return readDefinitionFile(t, filepath.Join(testutil.Root(), definitionFile))
}

func readDefinitionFile(t *testing.T, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(file)
	testutil.Must(t, err)
	definition := &apiextensionsv1.CustomResourceDefinition{}
	testutil.Must(t, yaml.UnmarshalStrict(data, definition))
	return definition
}

// versionOf returns a version of the definition.
func versionOf(
	t *testing.T, definition *apiextensionsv1.CustomResourceDefinition, name string,
) *apiextensionsv1.CustomResourceDefinitionVersion {
	t.Helper()
	for i := range definition.Spec.Versions {
		if version := &definition.Spec.Versions[i]; version.Name == name {
			return version
		}
	}
	t.Fatalf("the definition has no version %q", name)
	return nil
}

// node is a node of the schema. Its path contains [] for the items of a list and {} for the values of a map.
type node struct {
	path   string
	name   string
	schema *apiextensionsv1.JSONSchemaProps
}

// nodes returns the nodes of the v1alpha2 schema below spec and status, without the schemas of Kubernetes' own types.
func nodes(t *testing.T) []node {
	t.Helper()
	var found []node
	var walk func(path, name string, schema *apiextensionsv1.JSONSchemaProps)
	walk = func(path, name string, schema *apiextensionsv1.JSONSchemaProps) {
		found = append(found, node{path, name, schema})
		if slices.Contains(kubernetes, path) {
			return
		}
		for _, property := range slices.Sorted(maps.Keys(schema.Properties)) {
			below := schema.Properties[property]
			walk(strings.TrimPrefix(path+"."+property, "."), property, &below)
		}
		if schema.Items != nil {
			walk(path+"[]", "", schema.Items.Schema)
		}
		if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
			walk(path+"{}", "", schema.AdditionalProperties.Schema)
		}
	}
	root := versionOf(t, readDefinition(t), v1alpha2.GroupVersion.Version).Schema.OpenAPIV3Schema
	for _, property := range []string{"spec", "status"} {
		schema := root.Properties[property]
		walk(property, property, &schema)
	}
	return found
}

// The schema has only these defaults. Any other default would appear in objects that are read in a different version.
func TestDefaults(t *testing.T) {
	var got []string
	for _, n := range nodes(t) {
		if n.schema.Default != nil {
			got = append(got, n.path+"="+string(n.schema.Default.Raw))
		}
	}
	want := []string{"spec.workload={}", "spec.workload.replicas=1"}
	if !slices.Equal(got, want) {
		t.Errorf("defaults %q, want %q", got, want)
	}
}

// Every field has a description, which begins with the field's name. The schemas of the items in lists of Kubernetes'
// own types have no descriptions, except for status.conditions.
func TestDescriptions(t *testing.T) {
	for _, n := range nodes(t) {
		if n.name != "" && !strings.HasPrefix(n.schema.Description, n.name) {
			t.Errorf("%s: the description does not begin with %q: %q", n.path, n.name, n.schema.Description)
		}
		if slices.Contains(kubernetes, n.path) && n.path != "status.conditions" {
			if data, _ := json.Marshal(n.schema.Items); strings.Contains(string(data), `"description":"`) {
				t.Errorf("%s: contains the descriptions of Kubernetes' own types", n.path)
			}
		}
	}
}
