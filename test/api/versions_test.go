package api

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// before is the file with the previous operator's CustomResourceDefinition.
const before = "testdata/definition-before.yaml"

func TestVersions(t *testing.T) {
	definition := readDefinition(t)
	if got := len(definition.Spec.Versions); got != 2 {
		t.Errorf("the definition has %d versions, want 2", got)
	}
	for name, stored := range map[string]bool{"v1alpha1": false, "v1alpha2": true} {
		version := versionOf(t, definition, name)
		if !version.Served || version.Storage != stored || version.Subresources.Scale == nil ||
			version.Subresources.Status == nil {
			t.Errorf("%s: served %v, stored %v, subresources %v", name, version.Served, version.Storage, version.Subresources)
		}
	}
	conversion := definition.Spec.Conversion
	if conversion.Strategy != apiextensionsv1.WebhookConverter {
		t.Fatalf("the conversion strategy of the definition is %q", conversion.Strategy)
	}
	service := conversion.Webhook.ClientConfig.Service
	if service.Name != names.WebhookService || service.Namespace != names.OperatorNamespace ||
		*service.Path != names.ConversionPath {
		t.Errorf("the conversion webhook is %v", service)
	}
	// The operator writes the CA bundle. A value in the manifest would replace it on every apply.
	if conversion.Webhook.ClientConfig.CABundle != nil {
		t.Error("the definition has a caBundle")
	}
}

// v1alpha1 has the same columns and selectable fields as in the previous operator's definition.
func TestV1alpha1LooksTheSame(t *testing.T) {
	older, ours := versionOf(t, readDefinitionFile(t, before), "v1alpha1"), versionOf(t, readDefinition(t), "v1alpha1")
	if diff := cmp.Diff(older.AdditionalPrinterColumns, ours.AdditionalPrinterColumns); diff != "" {
		t.Errorf("columns (-before +now):\n%s", diff)
	}
	if diff := cmp.Diff(older.SelectableFields, ours.SelectableFields); diff != "" {
		t.Errorf("fields to select by (-before +now):\n%s", diff)
	}
}

// Manifests that were accepted in v1alpha1 are still accepted. Each field still exists, with the same type and default,
// and with no new rule.
func TestV1alpha1IsNotStricter(t *testing.T) {
	older, ours := versionOf(t, readDefinitionFile(t, before), "v1alpha1"), versionOf(t, readDefinition(t), "v1alpha1")
	compareSchemas(t, "", older.Schema.OpenAPIV3Schema, ours.Schema.OpenAPIV3Schema)
}

// looser contains the paths of the fields whose rules accept more values than in the previous operator's definition.
var looser = []string{".spec.server.distribution"}

func compareSchemas(t *testing.T, path string, older, ours *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for name, schema := range older.Properties {
		if now, ok := ours.Properties[name]; ok {
			compareSchemas(t, path+"."+name, &schema, &now)
		} else {
			t.Errorf("%s.%s no longer exists", path, name)
		}
	}
	if older.Items != nil && ours.Items != nil {
		compareSchemas(t, path+"[]", older.Items.Schema, ours.Items.Schema)
	}
	if older.AdditionalProperties != nil && ours.AdditionalProperties != nil {
		compareSchemas(t, path+"{}", older.AdditionalProperties.Schema, ours.AdditionalProperties.Schema)
	}
	for _, name := range ours.Required {
		if !slices.Contains(older.Required, name) {
			t.Errorf("%s.%s is now required", path, name)
		}
	}
	if diff := cmp.Diff(rules(older), rules(ours)); diff != "" && !slices.Contains(looser, path) {
		t.Errorf("%s (-before +now):\n%s", path, diff)
	}
}

// rules returns the part of a schema that restricts a value itself, without the description and the schemas of nested
// values.
func rules(schema *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	own := schema.DeepCopy()
	own.Description, own.Properties, own.Items, own.AdditionalProperties, own.Required = "", nil, nil, nil, nil
	own.Nullable = false // a nullable field accepts one more value
	if own.XListType != nil && *own.XListType == "map" && slices.Equal(own.XListMapKeys, []string{"type"}) {
		own.XListType, own.XListMapKeys = nil, nil // the list of conditions, to which a writer adds each type only once
	}
	if own.XIntOrString {
		// Quantities have a new maximum length, and exponents of at most three digits. A longer exponent kept the API server
		// busy for minutes.
		own.MaxLength, own.Pattern = nil, ""
	}
	if own.XPreserveUnknownFields != nil && own.Type == "object" {
		own.XMapType = nil // the API server records the managers of such an object as a whole
	}
	return own
}
