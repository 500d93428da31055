package webhook

import (
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// manifestsBefore is the pattern of the files with manifests from users of the previous operator.
var manifestsBefore = filepath.Join(testutil.Root(), "test", "contract", "testdata", "cases", "*.yaml")

// storeOlder installs the CRD of the previous operator, and creates v1alpha1 stacks with it. It returns the
// stored objects.
func (c *cluster) storeOlder(t testing.TB) []unstructured.Unstructured {
	t.Helper()
	c.InstallOlder(t)
	files, err := filepath.Glob(manifestsBefore)
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no manifests in %s: %v", manifestsBefore, err)
	}
	for _, file := range files {
		objects, err := testutil.ReadObjects(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() == v1alpha2.Kind {
				object.SetNamespace("default")
				if err := c.Create(t.Context(), object, client.FieldOwner("manager")); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
			}
		}
	}
	stored, err := c.list(t, "v1alpha1")
	if err != nil || len(stored) == 0 {
		t.Fatalf("%d stacks: %v", len(stored), err)
	}
	return stored
}

// storedVersions returns the versions in which the API server may have stored objects.
func (c *cluster) storedVersions(t testing.TB) []string {
	t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: names.CustomResourceDefinition}, definition); err != nil {
		t.Fatal(err)
	}
	return definition.Status.StoredVersions
}
