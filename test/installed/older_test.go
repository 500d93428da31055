package installed

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const older = "test/installed/testdata/older.yaml"

// Users can install this operator over the operator for v1alpha1 with any method of applying manifests. The objects of
// the two operators have the same names, so the newer objects replace the older ones. Therefore, no second
// PodDisruptionBudget blocks evictions of the operator's pods, every Service has endpoints, and no additional
// permissions remain. Only one older ConfigMap remains, and the page about upgrades mentions it.
func TestOverOlderInstallation(t *testing.T) {
	c, ours := startCluster(t), testutil.ManifestFile(t, "default")
	for name, how := range map[string][]string{"client-side apply": nil, "server-side apply": {"--server-side"}} {
		t.Run(name, func(t *testing.T) {
			c.kubectl(t, append([]string{"apply", "--filename=" + older}, how...)...)
			addresses := c.metricsAddresses(t)
			c.kubectl(t, append([]string{"apply", "--filename=" + ours}, how...)...)
			if diff := cmp.Diff([]string{"configmap/llama-stack-k8s-operator-manager-config"}, c.left(t, ours)); diff != "" {
				t.Errorf("remaining objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(addresses, c.metricsAddresses(t)); diff != "" {
				t.Errorf("addresses of the Service for metrics (-want +got):\n%s", diff)
			}
			c.expectOurDeployment(t)
			c.expectOneBudget(t)
			// The manifest begins with the namespace, so the API server deletes the objects in the namespace while kubectl
			// deletes the objects of the manifest.
			c.kubectl(t, "delete", "--ignore-not-found", "--timeout=60s", "--filename="+ours)
			c.expectGone(t, ours)
		})
	}
}

// left returns the objects of the older manifest that still exist and that this operator's manifest does not contain.
func (c *cluster) left(t *testing.T, ours string) []string {
	t.Helper()
	names := func(manifest string) []string {
		return strings.Fields(c.kubectl(t, "get", "--ignore-not-found", "--output=name", "--filename="+manifest))
	}
	have := names(ours)
	return slices.DeleteFunc(names(older), func(name string) bool { return slices.Contains(have, name) })
}

func (c *cluster) metricsAddresses(t *testing.T) []string {
	t.Helper()
	var service corev1.Service
	c.read(t, "llama-stack-k8s-operator-controller-manager-metrics-service", &service)
	return service.Spec.ClusterIPs
}

// expectOurDeployment checks that the Deployment does not contain fields of the older Deployment.
func (c *cluster) expectOurDeployment(t *testing.T) {
	t.Helper()
	var deployment appsv1.Deployment
	c.read(t, "llama-stack-k8s-operator-controller-manager", &deployment)
	pod := deployment.Spec.Template.Spec
	container := pod.Containers[0]
	limits := container.Resources.Limits
	if len(container.Command) > 0 || len(container.Args) != 1 || len(limits) != 1 || len(container.Ports) != 3 ||
		len(pod.TopologySpreadConstraints) != 1 {
		t.Errorf("command %q, arguments %q, limits %v, ports %v, constraints %v",
			container.Command, container.Args, limits, container.Ports, pod.TopologySpreadConstraints)
	}
	variables := map[string]string{}
	for _, variable := range container.Env {
		variables[variable.Name] = variable.Value
	}
	if diff := cmp.Diff(map[string]string{"POD_NAMESPACE": "", "GOMEMLIMIT": "340MiB"}, variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

// expectOneBudget checks that only one budget selects the operator's pods. The API server rejects the eviction of a pod
// that two budgets select.
func (c *cluster) expectOneBudget(t *testing.T) {
	t.Helper()
	var deployment appsv1.Deployment
	c.read(t, "llama-stack-k8s-operator-controller-manager", &deployment)
	var budgets policyv1.PodDisruptionBudgetList
	testutil.Must(t, c.List(t.Context(), &budgets, client.InNamespace(names.OperatorNamespace)))
	found := 0
	for _, budget := range budgets.Items {
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		testutil.Must(t, err)
		if selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
			found++
		}
		if budget.Spec.MinAvailable != nil {
			t.Errorf("budget %q still has minAvailable", budget.Name)
		}
	}
	if found != 1 {
		t.Errorf("%d budgets select the operator's pods", found)
	}
}

func (c *cluster) read(t *testing.T, name string, into client.Object) {
	t.Helper()
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Namespace: names.OperatorNamespace, Name: name}, into))
}
