package transition_test

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/rendercase"
)

const cases = "../../internal/render/testdata"

// The test applies each Deployment after every other Deployment, and after itself. The API server must accept each of
// them. The result must be the same as for a new object, so that no field of the previous Deployment remains. In the
// sequence of pairs, the second Deployment of a pair is the first Deployment of the next pair.
func TestEveryDeploymentMayFollowEveryOther(t *testing.T) {
	c := start(t)
	deployments := deployments(t)
	if len(deployments) < 50 {
		t.Fatalf("found %d Deployments below %s", len(deployments), cases)
	}
	alone := make(map[string]string)
	for name, deployment := range deployments {
		alone[name] = apply(t, c, deployment)
		remove(t, c, deployment)
	}
	path := pathOverPairs(slices.Sorted(maps.Keys(deployments)))
	apply(t, c, deployments[path[0]])
	tried := make(map[[2]string]bool)
	for i, to := range path[1:] {
		from := path[i]
		tried[[2]string{from, to}] = true
		if got := apply(t, c, deployments[to]); got != alone[to] {
			t.Errorf("%s after %s:\n got %s\nwant %s", to, from, got, alone[to])
			remove(t, c, deployments[to])
			apply(t, c, deployments[to])
		}
	}
	if want := len(deployments) * len(deployments); len(tried) != want {
		t.Errorf("the test tried %d pairs, want %d", len(tried), want)
	}
}

// pathOverPairs returns a sequence of names in which each pair of names occurs exactly once as neighbors, including
// pairs of a name with itself.
func pathOverPairs(names []string) []string {
	var path []string
	for i, name := range names {
		path = append(path, name)
		for _, later := range names[i+1:] {
			path = append(path, name, later)
		}
	}
	return append(path, names[0])
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
	result := make(map[string]*unstructured.Unstructured)
	for _, name := range golden.Cases(t, cases) {
		objects, err := render.Objects(rendercase.Input(t, filepath.Join(cases, name, "in.yaml")))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, object := range objects {
			if object.GVK.Kind != "Deployment" {
				continue
			}
			if result[name], err = render.Unstructured(object); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return result
}

// apply returns the spec that the API server stores after the apply.
func apply(t *testing.T, c client.Client, object *unstructured.Unstructured) string {
	t.Helper()
	answer := object.DeepCopy()
	sent := client.ApplyConfigurationFromUnstructured(answer)
	if err := c.Apply(t.Context(), sent, client.FieldOwner(names.FieldManager), client.ForceOwnership); err != nil {
		t.Fatalf("apply: %v", err)
	}
	spec, err := json.MarshalIndent(answer.Object["spec"], "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(spec)
}

func remove(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	if err := c.Delete(context.WithoutCancel(t.Context()), object.DeepCopy()); err != nil {
		t.Fatal(err)
	}
}
