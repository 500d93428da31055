package testutil

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Cluster is a control plane that runs as long as its test.
type Cluster struct {
	client.Client // with the permissions of an administrator

	Plane *ControlPlane
	// Kubeconfig is an administrator's kubeconfig file, for kubectl and the cluster's own controllers.
	Kubeconfig string
}

// StartCluster starts a control plane and stops it at the end of the test.
func StartCluster(t testing.TB, options Options) *Cluster {
	t.Helper()
	plane, err := Start(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	config, err := plane.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	admin, err := plane.Client()
	if err != nil {
		t.Fatal(err)
	}
	return &Cluster{Client: admin, Plane: plane, Kubeconfig: file}
}

// NewScheme returns a scheme with Kubernetes' own kinds, CustomResourceDefinition and the operator's kinds.
func NewScheme() (*runtime.Scheme, error) {
	types := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(scheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha2.AddToScheme)
	if err := builder.AddToScheme(types); err != nil {
		return nil, fmt.Errorf("create a scheme: %w", err)
	}
	return types, nil
}

// Client returns a client without a cache that acts as a cluster administrator.
func (p *ControlPlane) Client() (client.Client, error) { return newClient(p.Config) }

func newClient(config *rest.Config) (client.Client, error) {
	types, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: types})
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	return c, nil
}
