package webhook

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
)

// patience is the time limit for the cluster to reach an expected state.
const patience = process.Patience

// cluster is a cluster whose API server can call the webhooks of the replicas.
type cluster struct{ *process.Cluster }

type operator = process.Operator

func startCluster(t testing.TB) *cluster {
	t.Helper()
	return &cluster{process.StartCluster(t, testutil.Options{})}
}

// list reads every stack in one API version.
func (c *cluster) list(t testing.TB, version string) ([]unstructured.Unstructured, error) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(v1alpha2.GroupVersion.Group + "/" + version)
	list.SetKind(v1alpha2.Kind + "List")
	err := c.List(t.Context(), list)
	return list.Items, err
}

// bothLists returns an error until the API server returns the given number of stacks in both versions.
func (c *cluster) bothLists(t testing.TB, want int) error {
	t.Helper()
	for _, version := range []string{v1alpha1.GroupVersion.Version, v1alpha2.GroupVersion.Version} {
		if items, err := c.list(t, version); err != nil || len(items) != want {
			return fmt.Errorf("%d of %d stacks of %s: %w", len(items), want, version, err)
		}
	}
	return nil
}

func writeFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
