package status_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// The requests are concurrent, so the race detector checks that they change the facts one at a time.
func TestReadWithoutPermissions(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden"}`)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	config := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}],
contexts: [{name: c, context: {cluster: c}}]}`, server.URL)
	testutil.Must(t, os.WriteFile(file, []byte(config), 0o600))
	cluster, err := (&kube.Flags{Kubeconfig: file}).Connect("1.2.3")
	testutil.Must(t, err)
	stack := &v1alpha2.LlamaStackDistribution{
		ObjectMeta: metav1.ObjectMeta{Name: "my", Namespace: "team-a"},
		Spec: v1alpha2.LlamaStackDistributionSpec{
			OverrideConfig: &v1alpha2.OverrideConfigSource{ConfigMapName: "own"},
			Workload:       &v1alpha2.WorkloadSpec{Storage: &v1alpha2.VolumeSpec{}, Autoscaling: &v1alpha2.AutoscalingSpec{}},
			Networking:     &v1alpha2.NetworkingSpec{Expose: &v1alpha2.Expose{}},
		},
	}
	facts, err := status.Read(t.Context(), cluster, stack)
	testutil.Must(t, err)
	want := []string{
		`you cannot get deployments.apps in namespace "team-a"`,
		`you cannot get horizontalpodautoscalers.autoscaling in namespace "team-a"`,
		`you cannot get httproutes.gateway.networking.k8s.io in namespace "team-a"`,
		`you cannot get ingresses.networking.k8s.io in namespace "team-a"`,
		`you cannot get persistentvolumeclaims in namespace "team-a"`,
		`you cannot get routes.route.openshift.io in namespace "team-a"`,
		`you cannot get the ConfigMap that contains the models`,
		`you cannot list pods in namespace "team-a"`,
		`you cannot list replicasets.apps in namespace "team-a"`,
	}
	if diff := cmp.Diff(want, facts.Unseen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
