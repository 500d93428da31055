package install

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/manager"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// manifest holds the objects by kind.
type manifest map[string][]*unstructured.Unstructured

func read(t *testing.T) manifest {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "dist", "install.yaml"))
	if err != nil {
		t.Fatalf("run make generate: %v", err)
	}
	objects := manifest{}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		objects[object.GetKind()] = append(objects[object.GetKind()], object)
	}
}

// one returns the only object of a kind.
func one[T any](t *testing.T, objects manifest, kind string) T {
	t.Helper()
	if n := len(objects[kind]); n != 1 {
		t.Fatalf("%d objects of kind %s, want one", n, kind)
	}
	return as[T](t, objects[kind][0])
}

func as[T any](t *testing.T, object *unstructured.Unstructured) T {
	t.Helper()
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &typed, true); err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return typed
}

func TestNamesAgreeWithTheCode(t *testing.T) {
	objects := read(t)
	for _, kind := range []string{"ServiceAccount", "Deployment", "Role", "RoleBinding", "Service"} {
		for _, object := range objects[kind] {
			if object.GetNamespace() != names.OperatorNamespace {
				t.Errorf("%s %s is in namespace %q, want %q", kind, object.GetName(), object.GetNamespace(), names.OperatorNamespace)
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
}

func TestEveryBindingIsTheOperators(t *testing.T) {
	objects := read(t)
	want := []rbacv1.Subject{{
		Kind: rbacv1.ServiceAccountKind, Name: names.OperatorServiceAccount, Namespace: names.OperatorNamespace,
	}}
	for _, object := range objects["ClusterRoleBinding"] {
		if diff := cmp.Diff(want, as[rbacv1.ClusterRoleBinding](t, object).Subjects); diff != "" {
			t.Errorf("%s: subjects (-want +got):\n%s", object.GetName(), diff)
		}
	}
	binding := one[rbacv1.RoleBinding](t, objects, "RoleBinding")
	if diff := cmp.Diff(want, binding.Subjects); diff != "" {
		t.Errorf("%s: subjects (-want +got):\n%s", binding.Name, diff)
	}
}

// Nothing may be granted wholesale, and the one lease, Secret and ConfigMap by their names.
func TestRulesAreNarrow(t *testing.T) {
	objects := read(t)
	for _, object := range objects["ClusterRole"] {
		for _, rule := range as[rbacv1.ClusterRole](t, object).Rules {
			for _, granted := range [][]string{rule.APIGroups, rule.Resources, rule.Verbs, rule.NonResourceURLs} {
				for _, word := range granted {
					if word == "*" {
						t.Errorf("%s grants *: %v", object.GetName(), rule)
					}
				}
			}
		}
	}
	var named []string
	for _, rule := range one[rbacv1.Role](t, objects, "Role").Rules {
		named = append(named, rule.ResourceNames...)
	}
	if diff := cmp.Diff([]string{names.LeaderElectionID, names.DigestKeySecret, names.OperatorConfigMap}, named); diff != "" {
		t.Errorf("named resources (-want +got):\n%s", diff)
	}
}

func TestTheManagerKnowsItsArguments(t *testing.T) {
	var options manager.Options
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.BindFlags(flags)
	container := one[appsv1.Deployment](t, read(t), "Deployment").Spec.Template.Spec.Containers[0]
	if err := flags.Parse(container.Args); err != nil {
		t.Error(err)
	}
	if !options.LeaderElect {
		t.Error("the Deployment does not elect a leader: two pods of a rollout would both work")
	}
}
