package install

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/manager"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	plain       = "default"
	openShift   = "overlays/openshift"
	namespaced  = "overlays/namespaced"
	certManager = "overlays/cert-manager"
)

// manifests lists the folders of config that users install with one command.
var manifests = []string{plain, openShift, namespaced, certManager}

// manifest holds the objects, grouped by kind.
type manifest map[string][]*unstructured.Unstructured

// built contains the manifests that read has built.
var built = map[string][]byte{}

func read(t *testing.T, name string) manifest {
	t.Helper()
	if built[name] == nil {
		var err error
		if built[name], err = testutil.Manifest(t.Context(), testutil.Root(), name); err != nil {
			t.Fatal(err)
		}
	}
	found, err := testutil.Objects(built[name])
	testutil.Must(t, err)
	objects := manifest{}
	for _, object := range found {
		objects[object.GetKind()] = append(objects[object.GetKind()], object)
	}
	return objects
}

// each runs a test for every manifest.
func each(t *testing.T, test func(t *testing.T, objects manifest)) {
	t.Helper()
	for _, name := range manifests {
		t.Run(name, func(t *testing.T) { test(t, read(t, name)) })
	}
}

// one returns the only object of a kind.
func one[T any](t *testing.T, objects manifest, kind string) T {
	t.Helper()
	if n := len(objects[kind]); n != 1 {
		t.Fatalf("there are %d objects of kind %s, want one", n, kind)
	}
	return as[T](t, objects[kind][0])
}

func as[T any](t *testing.T, object *unstructured.Unstructured) T {
	t.Helper()
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed,
		true); err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return typed
}

// watched returns the namespaces in the arguments of the operator's Deployment. An empty list means all namespaces.
func watched(t *testing.T, objects manifest) []string {
	t.Helper()
	return arguments(t, objects).WatchNamespaces
}

// arguments returns the options that the operator reads from the Deployment's arguments.
func arguments(t *testing.T, objects manifest) manager.Options {
	t.Helper()
	var options manager.Options
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.BindFlags(flags)
	testutil.Must(t, flags.Parse(one[appsv1.Deployment](t, objects,
		"Deployment").Spec.Template.Spec.Containers[0].Args))
	return options
}

func TestNamesAgreeWithTheCode(t *testing.T) {
	each(t, func(t *testing.T, objects manifest) {
		for _, kind := range []string{
			"ServiceAccount", "Deployment", "PodDisruptionBudget", "Role", "RoleBinding",
			"Service",
		} {
			for _, object := range objects[kind] {
				own := object.GetNamespace() == names.OperatorNamespace
				if !own && (kind != "Role" && kind != "RoleBinding" ||
					!slices.Contains(watched(t, objects), object.GetNamespace())) {
					t.Errorf("%s %s is in namespace %q, want %q", kind, object.GetName(), object.GetNamespace(),
						names.OperatorNamespace)
				}
			}
		}
		if got := objects["Namespace"][0].GetName(); got != names.OperatorNamespace {
			t.Errorf("namespace %q, want %q", got, names.OperatorNamespace)
		}
		if got := objects["ServiceAccount"][0].GetName(); got != names.OperatorServiceAccount {
			t.Errorf("service account %q, want %q", got, names.OperatorServiceAccount)
		}
		deployment := one[appsv1.Deployment](t, objects, "Deployment")
		if got := deployment.Spec.Template.Spec.ServiceAccountName; got != names.OperatorServiceAccount {
			t.Errorf("the Deployment runs as %q, want %q", got, names.OperatorServiceAccount)
		}
	})
}

// binding contains the fields that a RoleBinding and a ClusterRoleBinding have in common.
type binding struct {
	role     rbacv1.RoleRef
	subjects []rbacv1.Subject
}

func bindings(t *testing.T, objects manifest) map[string]binding {
	t.Helper()
	found := map[string]binding{}
	for _, object := range objects["ClusterRoleBinding"] {
		typed := as[rbacv1.ClusterRoleBinding](t, object)
		found[typed.Name] = binding{typed.RoleRef, typed.Subjects}
	}
	for _, object := range objects["RoleBinding"] {
		typed := as[rbacv1.RoleBinding](t, object)
		found[typed.Namespace+"/"+typed.Name] = binding{typed.RoleRef, typed.Subjects}
	}
	return found
}

// Every binding binds the operator to an existing role.
func TestEveryBindingIsTheOperators(t *testing.T) {
	want := []rbacv1.Subject{{
		Kind: rbacv1.ServiceAccountKind, Name: names.OperatorServiceAccount, Namespace: names.OperatorNamespace,
	}}
	each(t, func(t *testing.T, objects manifest) {
		for name, binding := range bindings(t, objects) {
			if diff := cmp.Diff(want, binding.subjects); diff != "" {
				t.Errorf("%s: subjects (-want +got):\n%s", name, diff)
			}
			if !slices.ContainsFunc(objects[binding.role.Kind],
				func(role *unstructured.Unstructured) bool { return role.GetName() == binding.role.Name }) {
				t.Errorf("%s: there is no %s %s", name, binding.role.Kind, binding.role.Name)
			}
		}
	})
}

// No rule contains wildcards. The rules for the lease, the ConfigMap, the Secrets, CustomResourceDefinitions and
// webhook configurations list the names of these objects.
func TestRulesAreNarrow(t *testing.T) {
	each(t, func(t *testing.T, objects manifest) {
		for _, object := range slices.Concat(objects["ClusterRole"], objects["Role"]) {
			// A Role and a ClusterRole have the same type of rules.
			object.SetKind("ClusterRole")
			for _, rule := range as[rbacv1.ClusterRole](t, object).Rules {
				for _, granted := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs} {
					if slices.Contains(granted, "*") {
						t.Errorf("%s grants *: %v", object.GetName(), rule)
					}
				}
				for _, group := range []string{"apiextensions.k8s.io", "admissionregistration.k8s.io"} {
					if slices.Contains(rule.APIGroups, group) && len(rule.ResourceNames) == 0 {
						t.Errorf("%s grants access to all objects: %v", object.GetName(), rule)
					}
				}
			}
		}
		var named []string
		for _, rule := range roleIn(t, objects, names.OperatorNamespace).Rules {
			named = append(named, rule.ResourceNames...)
		}
		want := []string{
			names.LeaderElectionID, names.DigestKeySecret, names.WebhookCertificateSecret,
			names.OperatorConfigMap,
		}
		if diff := cmp.Diff(want, named); diff != "" {
			t.Errorf("named resources (-want +got):\n%s", diff)
		}
	})
}

// roleIn returns the only Role in a namespace.
func roleIn(t *testing.T, objects manifest, namespace string) rbacv1.Role {
	t.Helper()
	var found []rbacv1.Role
	for _, object := range objects["Role"] {
		if object.GetNamespace() == namespace {
			found = append(found, as[rbacv1.Role](t, object))
		}
	}
	if len(found) != 1 {
		t.Fatalf("there are %d Roles in namespace %q, want one", len(found), namespace)
	}
	return found[0]
}

// The topology spread constraint and the PodDisruptionBudget select the two replicas, so that the replicas run on
// different nodes if possible, and one of them keeps running when nodes are drained. A replica has enough time to
// release its lease when it stops.
func TestOneReplicaStays(t *testing.T) {
	each(t, func(t *testing.T, objects manifest) {
		deployment := one[appsv1.Deployment](t, objects, "Deployment").Spec
		budget := one[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget").Spec
		if deployment.Replicas == nil || *deployment.Replicas != 2 {
			t.Errorf("replicas %v, want 2", deployment.Replicas)
		}
		if diff := cmp.Diff(deployment.Selector, budget.Selector); diff != "" {
			t.Errorf("the budget selects other pods (-want +got):\n%s", diff)
		}
		pod := deployment.Template.Spec
		if n := len(pod.TopologySpreadConstraints); n != 1 {
			t.Fatalf("the pods have %d topology spread constraints, want one", n)
		}
		if diff := cmp.Diff(deployment.Selector, pod.TopologySpreadConstraints[0].LabelSelector); diff != "" {
			t.Errorf("the topology spread constraint selects other pods (-want +got):\n%s", diff)
		}
		if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace <= manager.GracefulShutdown {
			t.Errorf("a pod is killed after %v, but its work may take %v", grace, manager.GracefulShutdown)
		}
	})
}

// The ServiceAccount's token is not mounted automatically. Only the operator's own pod has the token, because the
// Deployment mounts it explicitly.
func TestOnlyTheOperatorPodHasAToken(t *testing.T) {
	each(t, func(t *testing.T, objects manifest) {
		if mounts := one[corev1.ServiceAccount](t, objects, "ServiceAccount").AutomountServiceAccountToken; mounts == nil ||
			*mounts {
			t.Error("every pod with the ServiceAccount gets its token")
		}
		if mounts := one[appsv1.Deployment](t, objects,
			"Deployment").Spec.Template.Spec.AutomountServiceAccountToken; mounts == nil || !*mounts {
			t.Error("the operator's pod does not mount the token")
		}
	})
}

func TestManagerAcceptsItsArguments(t *testing.T) {
	each(t, func(t *testing.T, objects manifest) {
		if !arguments(t, objects).LeaderElect {
			t.Error("leader election is disabled: two pods would be active at the same time during a rollout")
		}
	})
}
