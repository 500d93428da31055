package webhook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

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
