package transition_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/rendercase"
)

const cases = "../../internal/core/render/testdata"

// all makes the test apply all pairs of Deployments.
var all = flag.Bool("all", false, "apply each Deployment after every other Deployment, and not only one pair for each change of a field")

// The test applies each Deployment after itself, and pairs of different Deployments: all pairs (see the flag), or for
// each field one pair for each change of its shape. The API server must accept each of them. The result must be the
// same as for a new object, so that no field of the previous Deployment remains. In the sequence of pairs, the second
// Deployment of a pair is often the first Deployment of the next pair.
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
	shapes := make(map[string]map[string]string)
	for name, deployment := range deployments {
		shapes[name] = map[string]string{}
		addShapes(shapes[name], "", deployment.Object["spec"])
	}
	seen, current, tried := make(map[[3]string]bool), "", 0
	for i, to := range path[1:] {
		from := path[i]
		if !changes(shapes[from], shapes[to], seen) && from != to && !*all {
			continue
		}
		if current != from {
			apply(t, c, deployments[from])
		}
		current = to
		tried++
		if got := apply(t, c, deployments[to]); got != alone[to] {
			t.Errorf("%s after %s:\n got %s\nwant %s", to, from, got, alone[to])
			remove(t, c, deployments[to])
			apply(t, c, deployments[to])
		}
	}
	t.Logf("%d of %d pairs", tried, len(path)-1)
	if want := len(deployments) * len(deployments); len(path)-1 != want {
		t.Errorf("there are %d pairs, want %d", len(path)-1, want)
	}
}

// addShapes adds the shape of each field to the result, keyed by its path: the sorted keys of a mapping, and the sorted
// keys of the elements of a list. An apply merges fields by these keys.
func addShapes(shapes map[string]string, path string, value any) {
	children := map[string]any{}
	switch value := value.(type) {
	case map[string]any:
		children = value
	case []any:
		for i, item := range value {
			children[keyOf(i, item)] = item
		}
	default:
		shapes[path] = "value"
		return
	}
	shapes[path] = strings.Join(slices.Sorted(maps.Keys(children)), ",")
	for key, child := range children {
		addShapes(shapes, path+"/"+key, child)
	}
}

// keyOf returns the value that identifies an element of a list, or its index.
func keyOf(i int, item any) string {
	element, _ := item.(map[string]any)
	for _, key := range []string{"mountPath", "containerPort", "topologyKey", "name"} {
		if value, ok := element[key]; ok {
			return fmt.Sprint(value)
		}
	}
	return strconv.Itoa(i)
}

// changes reports whether a change from one Deployment to another contains a change of a field that was not seen yet.
func changes(from, to map[string]string, seen map[[3]string]bool) bool {
	found := false
	for _, fields := range []map[string]string{from, to} {
		for path := range fields {
			change := [3]string{path, from[path], to[path]}
			if from[path] != to[path] && !seen[change] {
				seen[change], found = true, true
			}
		}
	}
	return found
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
	c := testutil.StartCluster(t, testutil.Options{Bare: true}).Client
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
	testutil.Must(t, c.Create(t.Context(), namespace))
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
	testutil.Must(t, err)
	return string(spec)
}

func remove(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	testutil.Must(t, c.Delete(context.WithoutCancel(t.Context()), object.DeepCopy()))
}
