package controllertest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// WaitForBackendTLSPolicyKind waits until the API server serves the kind BackendTLSPolicy.
func (env *Environment) WaitForBackendTLSPolicyKind(t *testing.T) {
	t.Helper()
	WaitUntil(t, func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(render.BackendTLSPolicyKind.GroupVersion().WithKind("BackendTLSPolicyList"))
		return env.Client.List(t.Context(), list, client.InNamespace(env.Namespace))
	})
}

// GatewayDefinition returns the CustomResourceDefinition of the Gateway API kind with this plural name.
func GatewayDefinition(t *testing.T, plural string) *unstructured.Unstructured {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("config", "crd", "standard", "gateway.networking.k8s.io_"+plural+".yaml")
	objects, err := testutil.ReadObjects(filepath.Join(strings.TrimSpace(string(folder)), file))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

// InstallDefinition creates a CustomResourceDefinition, and returns a function that deletes it and waits until it no
// longer exists.
func (env *Environment) InstallDefinition(t *testing.T, definition client.Object) (uninstall func()) {
	t.Helper()
	if err := env.Client.Create(t.Context(), definition); err != nil {
		t.Fatal(err)
	}
	uninstall = func() {
		if err := env.Client.Delete(t.Context(), definition); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
		WaitUntil(t, func() error {
			if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(definition), definition); err == nil {
				return fmt.Errorf("%s still exists", definition.GetName())
			}
			return nil
		})
	}
	return uninstall
}

// NewUnstructured returns an empty object of a kind.
func NewUnstructured(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}
