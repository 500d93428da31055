package install

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// The operator that is limited to some namespaces has a Role in each of these namespaces, with the rules of the
// ClusterRole, and an additional Role in its own namespace. It has no permissions in other namespaces.
func TestNamespacedHasRolesOnly(t *testing.T) {
	objects := read(t, namespaced)
	if n := len(objects["ClusterRoleBinding"]); n != 0 {
		t.Errorf("%d ClusterRoleBindings, want none", n)
	}
	namespaces := watched(t, objects)
	if len(namespaces) == 0 || len(objects["Role"]) != len(namespaces)+1 {
		t.Fatalf("there are %d Roles, want one for each of the namespaces %q and one for the operator's own namespace", len(objects["Role"]), namespaces)
	}
	want := inNamespace(clusterRole(t, read(t, plain)).Rules)
	for _, namespace := range namespaces {
		if namespace == names.OperatorNamespace {
			t.Errorf("the operator watches its own namespace %s: users who may write stacks there could run pods with the operator's permissions", namespace)
		}
		if diff := cmp.Diff(want, roleIn(t, objects, namespace).Rules); diff != "" {
			t.Errorf("rules in %s (-ClusterRole +got):\n%s", namespace, diff)
		}
	}
	// The metrics are disabled, because authenticating their clients requires a cluster-wide permission.
	if address := arguments(t, objects).MetricsBindAddress; address != "0" {
		t.Errorf("metrics are served at %q", address)
	}
	if ports := one[appsv1.Deployment](t, objects, "Deployment").Spec.Template.Spec.Containers[0].Ports; len(ports) != 1 || ports[0].Name != "health" {
		t.Errorf("ports %v, want only the port for health checks", ports)
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

// inNamespace returns the rules of the ClusterRole that a Role in a namespace must contain. It omits cluster-wide
// rules, and the permission to write stacks, because only the migration of all stacks requires it.
func inNamespace(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	var kept []rbacv1.PolicyRule
	for _, rule := range rules {
		clusterWide := []string{
			"apiextensions.k8s.io", "admissionregistration.k8s.io", "config.openshift.io",
			"operator.openshift.io",
		}
		if slices.Contains(clusterWide, rule.APIGroups[0]) {
			continue
		}
		if slices.Contains(rule.Resources, "llamastackdistributions") {
			rule.Verbs = slices.DeleteFunc(slices.Clone(rule.Verbs), func(verb string) bool { return verb == "patch" })
		}
		kept = append(kept, rule)
	}
	return kept
}

// The manifest for OpenShift differs from the plain manifest only in the certificates that the cluster issues for
// metrics and webhooks, and in the security context constraint of the pod.
func TestOpenShift(t *testing.T) {
	const servingCert, injected = "service.beta.openshift.io/serving-cert-secret-name", "service.beta.openshift.io/inject-cabundle"
	objects, elsewhere := read(t, openShift), read(t, plain)
	deployment := one[appsv1.Deployment](t, objects, "Deployment")
	pod := &deployment.Spec.Template
	if got := pod.Annotations["openshift.io/required-scc"]; got != "restricted-v2" {
		t.Errorf("requires the constraints %q", got)
	}
	paths := map[string]string{
		"llama-stack-k8s-operator-controller-manager-metrics-service": arguments(t, objects).MetricsCertPath, names.WebhookService: arguments(t, objects).WebhookCertPath,
	}
	for _, service := range objects["Service"] {
		checkMounted(t, pod, service.GetAnnotations()[servingCert], paths[service.GetName()])
		delete(paths, service.GetName())
		unstructured.RemoveNestedField(service.Object, "metadata", "annotations", servingCert)
	}
	if len(paths) > 0 {
		t.Errorf("there is no Service for the certificates %v", paths)
	}
	takeAnnotations(t, objects, injected, "true")
	delete(pod.Annotations, "openshift.io/required-scc")
	compareRest(t, objects, elsewhere, deployment, 2)
}

// The manifest for cert-manager differs from the plain manifest only in the certificate for the webhooks.
func TestCertManager(t *testing.T) {
	objects, elsewhere := read(t, certManager), read(t, plain)
	deployment := one[appsv1.Deployment](t, objects, "Deployment")
	certificate := objects["Certificate"][0]
	secret, _, _ := unstructured.NestedString(certificate.Object, "spec", "secretName")
	checkMounted(t, &deployment.Spec.Template, secret, arguments(t, objects).WebhookCertPath)
	hosts, _, _ := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
	if want := names.WebhookService + "." + names.OperatorNamespace + ".svc"; !slices.Contains(hosts, want) {
		t.Errorf("the certificate is for %q, want %q", hosts, want)
	}
	issuer, _, _ := unstructured.NestedString(certificate.Object, "spec", "issuerRef", "name")
	if got := objects["Issuer"][0].GetName(); got != issuer {
		t.Errorf("the certificate refers to the issuer %q, but the manifest has the issuer %q", issuer, got)
	}
	takeAnnotations(t, objects, "cert-manager.io/inject-ca-from", certificate.GetNamespace()+"/"+certificate.GetName())
	delete(objects, "Certificate")
	delete(objects, "Issuer")
	compareRest(t, objects, elsewhere, deployment, 1)
}

// checkMounted checks that the pod mounts a Secret at a path.
func checkMounted(t *testing.T, pod *corev1.PodTemplateSpec, secret, path string) {
	t.Helper()
	volume := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil &&
			v.Secret.SecretName == secret
	})
	mount := slices.IndexFunc(pod.Spec.Containers[0].VolumeMounts,
		func(m corev1.VolumeMount) bool { return m.MountPath == path })
	if volume < 0 || mount < 0 || pod.Spec.Containers[0].VolumeMounts[mount].Name != pod.Spec.Volumes[volume].Name ||
		!pod.Spec.Containers[0].VolumeMounts[mount].ReadOnly {
		t.Errorf("the certificate of Secret %q is not mounted at %q: %v, %v", secret, path, pod.Spec.Volumes, pod.Spec.Containers[0].VolumeMounts)
	}
}

// takeAnnotations checks an annotation on the objects that contain the webhook settings, and removes it. The annotation
// makes another controller write the CA bundle into these objects.
func takeAnnotations(t *testing.T, objects manifest, annotation, want string) {
	t.Helper()
	for _, kind := range []string{"CustomResourceDefinition", "ValidatingWebhookConfiguration"} {
		object := objects[kind][0]
		if got := object.GetAnnotations()[annotation]; got != want {
			t.Errorf("%s has %s: %q, want %q", kind, annotation, got, want)
		}
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", annotation)
	}
}

// compareRest compares a manifest with the plain manifest. It ignores the Deployment's volumes and the given number of
// additional arguments.
func compareRest(t *testing.T, objects, elsewhere manifest, deployment appsv1.Deployment, arguments int) {
	t.Helper()
	container := &deployment.Spec.Template.Spec.Containers[0]
	deployment.Spec.Template.Spec.Volumes, container.VolumeMounts = nil, nil
	container.Args = container.Args[:len(container.Args)-arguments]
	if diff := cmp.Diff(one[appsv1.Deployment](t, elsewhere, "Deployment"), deployment); diff != "" {
		t.Errorf("other differences in the Deployment (-plain manifest +this manifest):\n%s", diff)
	}
	for _, each := range []manifest{objects, elsewhere} {
		delete(each, "Deployment")
		for _, list := range each {
			for _, object := range list {
				if len(object.GetAnnotations()) == 0 {
					unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
				}
			}
		}
	}
	if diff := cmp.Diff(elsewhere, objects); diff != "" {
		t.Errorf("other differences (-plain manifest +this one):\n%s", diff)
	}
}

// On OpenShift, the operator needs these permissions to create children that block the deletion of their owner, and
// Routes with the host name in the spec.
func TestPermissionsForOpenShift(t *testing.T) {
	rules := clusterRole(t, read(t, openShift)).Rules
	for _, want := range []rbacv1.PolicyRule{
		{
			APIGroups: []string{"llamastack.io"}, Resources: []string{"llamastackdistributions/finalizers"},
			Verbs: []string{"update"},
		},
		{
			APIGroups: []string{"route.openshift.io"}, Resources: []string{"routes/custom-host"},
			Verbs: []string{"create", "update"},
		},
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
