package upgrade

import (
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// namespaces is the number of namespaces that MakeStacks creates.
const namespaces = 3

// MakeStacks creates the given number of v1alpha1 stacks, half of them with a status. Their specs are those of the
// cases in test/contract. Their names are stack-000, stack-001 and so on, and their namespaces are team-0, team-1 and
// team-2.
func (c *Cluster) MakeStacks(t testing.TB, count int) {
	t.Helper()
	for i := range namespaces {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%d", i)}}
		if err := c.Create(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
	}
	specs := stacksOfBefore(t)
	for i := range count {
		stack := specs[i%len(specs)].DeepCopy()
		stack.SetName(fmt.Sprintf("stack-%03d", i))
		stack.SetNamespace(fmt.Sprintf("team-%d", i%namespaces))
		if err := c.Create(t.Context(), stack); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			continue
		}
		stack.Object["status"] = map[string]any{
			"phase": "Ready", "availableReplicas": int64(1), "serviceURL": "http://" + stack.GetName(),
			"version":            map[string]any{"operatorVersion": "0.4.0", "llamaStackServerVersion": "0.2.14"},
			"distributionConfig": map[string]any{"activeDistribution": "starter"},
			"conditions": []any{map[string]any{
				"type": "DeploymentReady", "status": "True", "reason": "DeploymentReady", "message": "Deployment is ready",
				"lastTransitionTime": "2025-06-01T12:00:00Z",
			}},
		}
		if err := c.Status().Update(t.Context(), stack); err != nil {
			t.Fatal(err)
		}
	}
}

func stacksOfBefore(t testing.TB) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testutil.Root(), "test/contract/testdata/cases/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var stacks []*unstructured.Unstructured
	for _, file := range files {
		objects, err := testutil.ReadObjects(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() == v1alpha2.Kind {
				stacks = append(stacks, object)
			}
		}
	}
	if len(stacks) == 0 {
		t.Fatal("test/contract has no cases with stacks")
	}
	return stacks
}

// Stacks reads every stack in the given version. The keys of the result have the form namespace/name.
func (c *Cluster) Stacks(t testing.TB, version string) map[string]*unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind + "List"))
	list.SetAPIVersion(v1alpha2.GroupVersion.Group + "/" + version)
	if err := c.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	stacks := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		stacks[list.Items[i].GetNamespace()+"/"+list.Items[i].GetName()] = &list.Items[i]
	}
	return stacks
}
