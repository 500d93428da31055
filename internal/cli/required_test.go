package cli_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/typecheck"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// otherwiseInTypes lists required fields whose Go type does not show that they are required. The commands do not
// require these fields.
var otherwiseInTypes = []string{
	".podCertificate.keyType", ".podCertificate.signerName", ".projected.sources",
	".scaleIO.secretRef",
}

// For a v1alpha1 document, the commands require the same fields as the CustomResourceDefinition, except the fields in
// otherwiseInTypes.
func TestMissingIsWhatTheDefinitionRequires(t *testing.T) {
	data := golden.Read(t, filepath.Join(testutil.Root(), "config/crd/bases/llamastack.io_llamastackdistributions.yaml"))
	var definition apiextensionsv1.CustomResourceDefinition
	testutil.Must(t, yaml.Unmarshal(data, &definition))
	objects := 0
	for _, version := range definition.Spec.Versions {
		if version.Name == v1alpha1.GroupVersion.Version {
			spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
			compareRequired(t, &spec, "spec", func(inner any) any { return inner }, &objects)
		}
	}
	if objects < 50 {
		t.Errorf("%d objects of the definition are compared", objects)
	}
}

// compareRequired sets a path of the spec to an empty object, and compares the missing fields with the schema of that
// path.
func compareRequired(
	t *testing.T, schema *apiextensionsv1.JSONSchemaProps, at string, within func(any) any, objects *int,
) {
	t.Helper()
	if schema.Items != nil && schema.Items.Schema != nil {
		compareRequired(t, schema.Items.Schema, at+"[0]", func(inner any) any { return within([]any{inner}) }, objects)
	}
	// These types have their own decoders.
	if len(schema.Properties) == 0 || strings.HasPrefix(at, "spec.server.externalProviders") ||
		strings.HasPrefix(at, "spec.server.storage.") {
		return
	}
	*objects++
	var want, got []string
	for _, name := range schema.Required {
		want = append(want, at+"."+name)
	}
	for _, path := range typecheck.Missing(within(map[string]any{}),
		reflect.TypeFor[v1alpha1.LlamaStackDistributionSpec](), "spec") {
		if rest, inside := strings.CutPrefix(path, at+"."); inside && !strings.Contains(rest, ".") {
			got = append(got, path)
		}
	}
	slices.Sort(want)
	told := func(path string) bool {
		return slices.ContainsFunc(otherwiseInTypes, func(suffix string) bool { return strings.HasSuffix(path, suffix) })
	}
	want, got = slices.DeleteFunc(want, told), slices.DeleteFunc(got, told)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-required +missing):\n%s", at, diff)
	}
	for name, property := range schema.Properties {
		compareRequired(t, &property, at+"."+name, func(inner any) any { return within(map[string]any{name: inner}) },
			objects)
	}
}
