package testutil

import (
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
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
