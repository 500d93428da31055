package webhook

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
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
	testutil.Must(t, os.WriteFile(file, data, 0o600))
	return file
}

// startReplicas starts both replicas, and adds them to the Service when they are ready.
func (c *cluster) startReplicas(t testing.TB) []*operator {
	t.Helper()
	replicas := []*operator{c.StartOperator(t), c.StartOperator(t)}
	for _, o := range replicas {
		testutil.Within(t, patience, o.Ready)
	}
	c.Publish(t, replicas...)
	return replicas
}

// validates returns an error until a replica rejects an unknown distribution. It calls the replica directly, because
// the API server calls only one replica, and accepts the stack if the webhook does not respond.
func validates(o *operator) error {
	const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE",` +
		`"kind":{"group":"llamastack.io","version":"v1alpha2","kind":"LlamaStackDistribution"},"object":{"apiVersion":"llamastack.io/v1alpha2",` +
		`"kind":"LlamaStackDistribution","metadata":{"name":"x","namespace":"default"},"spec":{"distribution":{"name":"startr"}}}}}`
	// The client does not verify the certificate, because the API server verifies it in its own calls.
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	answer, err := insecure.Post(fmt.Sprintf("https://127.0.0.1:%d%s", o.Port, names.ValidationPath), "application/json",
		strings.NewReader(review))
	if err != nil {
		return fmt.Errorf("call a replica: %w", err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(said), `unknown distribution \"startr\"`) {
		return fmt.Errorf("the replica at port %d answers %s: %w", o.Port, said, err)
	}
	return nil
}

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
		testutil.Must(t, err)
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
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Name: names.CustomResourceDefinition}, definition))
	return definition.Status.StoredVersions
}

// TestVolume checks that the API server rejects an update to a volume that Kubernetes does not allow, in both versions,
// and that the claim in the cluster counts.
func TestVolume(t *testing.T) {
	c := startCluster(t)
	c.Install(t)
	o := c.StartOperator(t)
	testutil.Within(t, patience, o.Ready)
	c.Publish(t, o)
	testutil.Within(t, patience, func() error { return validates(o) })
	newer := func(storage string) string {
		return fmt.Sprintf(`{"spec": {"workload": {"storage": {%s}}}}`, storage)
	}
	older := func(storage string) string { return fmt.Sprintf(`{"spec": {"server": {"storage": {%s}}}}`, storage) }
	c.MustKubectl(t, "apply", "-f", writeFile(t, "stack.yaml", []byte(`{apiVersion: llamastack.io/v1alpha1,
  kind: LlamaStackDistribution, metadata: {name: volume, namespace: default},
  spec: {server: {distribution: {name: starter}, storage: {size: 20Gi}}}}`)))
	testutil.Within(t, patience, func() error {
		_, err := c.Kubectl(t, "get", "pvc", "volume-pvc")
		return err
	})
	for _, tc := range []struct{ resource, patch, want string }{
		{"llamastackdistributions.v1alpha2.llamastack.io", newer(`"size": "5Gi"`), `5Gi is less than the 20Gi that PersistentVolumeClaim "volume-pvc" requests`},
		{"llamastackdistributions.v1alpha1.llamastack.io", older(`"size": "5Gi"`), `5Gi is less than the 20Gi that PersistentVolumeClaim "volume-pvc" requests`},
		{"llamastackdistributions.v1alpha2.llamastack.io", newer(`"accessModes": ["ReadWriteMany"]`), `is ReadWriteOnce, not ReadWriteMany`},
		{"llamastackdistributions.v1alpha2.llamastack.io", newer(`"size": "30Gi"`), ""},
	} {
		output, err := c.Kubectl(t, "patch", tc.resource, "volume", "--type=merge", "--dry-run=server", "-p", tc.patch)
		if refused := err != nil; refused != (tc.want != "") || !strings.Contains(output, tc.want) {
			t.Errorf("%s %s: %v, want %q\n%s", tc.resource, tc.patch, err, tc.want, output)
		}
	}
}
