package install

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// The operator for some namespaces has Roles in just those, with the rules of the ClusterRole, and no right anywhere else.
func TestNamespacedHasRolesOnly(t *testing.T) {
	objects := read(t, namespaced)
	if n := len(objects["ClusterRoleBinding"]); n != 0 {
		t.Errorf("%d ClusterRoleBindings, want none", n)
	}
	namespaces := watched(t, objects)
	if len(namespaces) == 0 || len(objects["Role"]) != len(namespaces)+1 {
		t.Fatalf("%d Roles for the namespaces %q and the operator's own", len(objects["Role"]), namespaces)
	}
	want := withoutClusterScoped(clusterRole(t, read(t, plain)).Rules)
	for _, namespace := range namespaces {
		if namespace == names.OperatorNamespace {
			t.Errorf("who may write stacks in %s may run pods as the operator", namespace)
		}
		if diff := cmp.Diff(want, roleIn(t, objects, namespace).Rules); diff != "" {
			t.Errorf("rules in %s (-those of the ClusterRole +got):\n%s", namespace, diff)
		}
	}
	// To authenticate who reads them is a cluster-wide right.
	if address := arguments(t, objects).MetricsBindAddress; address != "0" {
		t.Errorf("metrics are served at %q", address)
	}
	if ports := one[appsv1.Deployment](t, objects, "Deployment").Spec.Template.Spec.Containers[0].Ports; len(ports) != 1 || ports[0].Name != "health" {
		t.Errorf("ports %v, want that of health alone", ports)
	}
}

func clusterRole(t *testing.T, objects manifest) rbacv1.ClusterRole {
	t.Helper()
	for _, object := range objects["ClusterRole"] {
		if object.GetName() == "llama-stack-k8s-operator-manager-role" {
			return as[rbacv1.ClusterRole](t, object)
		}
	}
	t.Fatal("there is no ClusterRole of the operator")
	return rbacv1.ClusterRole{}
}

func withoutClusterScoped(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var kept []rbacv1.PolicyRule
	for _, rule := range rules {
		if !slices.Contains([]string{"apiextensions.k8s.io", "admissionregistration.k8s.io"}, rule.APIGroups[0]) {
			kept = append(kept, rule)
		}
	}
	return kept
}

// On OpenShift everything is as elsewhere, but for the certificate that the cluster makes for metrics and the constraints
// that the pod asks for.
func TestOpenShift(t *testing.T) {
	objects, elsewhere := read(t, openShift), read(t, plain)
	deployment, service := one[appsv1.Deployment](t, objects, "Deployment"), one[corev1.Service](t, objects, "Service")
	pod := &deployment.Spec.Template
	if got := pod.Annotations["openshift.io/required-scc"]; got != "restricted-v2" {
		t.Errorf("asks for the constraints %q", got)
	}
	secret := service.Annotations["service.beta.openshift.io/serving-cert-secret-name"]
	volume, mount := pod.Spec.Volumes[0], pod.Spec.Containers[0].VolumeMounts[0]
	if secret == "" || volume.Secret.SecretName != secret || mount.Name != volume.Name || !mount.ReadOnly {
		t.Errorf("the certificate of Secret %q is mounted by %v, %v", secret, volume, mount)
	}
	if path := arguments(t, objects).MetricsCertPath; path != mount.MountPath {
		t.Errorf("the certificate is looked for in %q and mounted at %q", path, mount.MountPath)
	}

	delete(pod.Annotations, "openshift.io/required-scc")
	pod.Spec.Volumes, pod.Spec.Containers[0].VolumeMounts = nil, nil
	arguments := pod.Spec.Containers[0].Args
	pod.Spec.Containers[0].Args = arguments[:len(arguments)-1]
	if diff := cmp.Diff(one[appsv1.Deployment](t, elsewhere, "Deployment"), deployment); diff != "" {
		t.Errorf("what else differs in the Deployment (-elsewhere +OpenShift):\n%s", diff)
	}
	for _, each := range []manifest{objects, elsewhere} {
		delete(each, "Deployment")
		unstructured.RemoveNestedField(each["Service"][0].Object, "metadata", "annotations")
	}
	if diff := cmp.Diff(elsewhere, objects); diff != "" {
		t.Errorf("what else differs (-elsewhere +OpenShift):\n%s", diff)
	}
}

// A stack's children block the deletion of their owner, and a Route has the host name that the stack asks for: both are
// refused on OpenShift without these rights.
func TestTheRightsThatOpenShiftAsksFor(t *testing.T) {
	rules := clusterRole(t, read(t, openShift)).Rules
	for _, want := range []rbacv1.PolicyRule{
		{APIGroups: []string{"llamastack.io"}, Resources: []string{"llamastackdistributions/finalizers"}, Verbs: []string{"update"}},
		{APIGroups: []string{"route.openshift.io"}, Resources: []string{"routes/custom-host"}, Verbs: []string{"create", "update"}},
	} {
		found := false
		for _, rule := range rules {
			found = found || cmp.Equal(want, rule)
		}
		if !found {
			t.Errorf("no rule %v", want)
		}
	}
}
