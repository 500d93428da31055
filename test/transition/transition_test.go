package transition_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const cases = "../../internal/render/testdata"

// Each pair of Deployments is applied one after the other; the second has to be accepted, and the result has to be what
// it is when applied alone, so that nothing of the first is left.
func TestEveryDeploymentMayFollowEveryOther(t *testing.T) {
	c := start(t)
	deployments := deployments(t)
	if len(deployments) < 2 {
		t.Fatalf("found %d Deployments below %s", len(deployments), cases)
	}
	alone := make(map[string]*appsv1.Deployment)
	for name, deployment := range deployments {
		alone[name] = apply(t, c, deployment)
		remove(t, c, deployment)
	}
	for from := range deployments {
		for to := range deployments {
			first, second := deployments[from], deployments[to]
			apply(t, c, first)
			if got, want := spec(t, apply(t, c, second)), spec(t, alone[to]); got != want {
				t.Errorf("%s after %s:\n got %s\nwant %s", to, from, got, want)
			}
			remove(t, c, second)
		}
	}
}

func start(t *testing.T) client.Client {
	t.Helper()
	plane, err := testutil.Start(testutil.Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := plane.Client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
	if err := c.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return c
}

func deployments(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(cases, "*", "want", "*-deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	result := make(map[string]*unstructured.Unstructured)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(data, &object.Object); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		result[filepath.Base(filepath.Dir(filepath.Dir(path)))] = object
	}
	return result
}

func apply(t *testing.T, c client.Client, object *unstructured.Unstructured) *appsv1.Deployment {
	t.Helper()
	sent := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
	if err := c.Apply(t.Context(), sent, client.FieldOwner(names.FieldManager), client.ForceOwnership); err != nil {
		t.Fatalf("apply: %v", err)
	}
	live := &appsv1.Deployment{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), live); err != nil {
		t.Fatal(err)
	}
	return live
}

func remove(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	if err := c.Delete(context.WithoutCancel(t.Context()), object.DeepCopy()); err != nil {
		t.Fatal(err)
	}
}

func spec(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	data, err := json.MarshalIndent(deployment.Spec, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
