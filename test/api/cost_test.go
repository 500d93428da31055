package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// largest returns an object of the maximum size: 17 APIs with 64 providers each, IDs of 63 characters, and 500
// resources of each kind.
func largest(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	secret := map[string]any{"secretKeyRef": map[string]any{"name": "creds", "key": "token"}}
	providers := map[string]any{}
	for _, api := range policyAPIs(t) {
		var list []any
		for i := range 64 {
			id := fmt.Sprintf("%s-%d-", api, i)
			id += strings.Repeat("x", 63-len(id))
			list = append(list, map[string]any{
				"id": id, "provider": "vllm", "endpoint": "http://vllm:8000", "apiKey": secret,
				"host": secret,
			})
		}
		providers[api] = list
	}
	resources := map[string]any{}
	for _, kind := range []string{"models", "tools", "shields"} {
		var list []any
		for i := range 500 {
			list = append(list, map[string]any{"name": fmt.Sprintf("resource-%d", i), "provider": "vllm"})
		}
		resources[kind] = list
	}
	data, err := json.Marshal(map[string]any{
		"apiVersion": v1alpha2.GroupVersion.String(), "kind": v1alpha2.Kind,
		"metadata": map[string]any{"name": "largest", "namespace": "default"},
		"spec": map[string]any{
			"distribution": map[string]any{"name": "starter"}, "providers": providers,
			"resources": resources,
		},
	})
	testutil.Must(t, err)
	object := &unstructured.Unstructured{}
	testutil.Must(t, object.UnmarshalJSON(data))
	return object
}

// The policy does not exceed the API server's cost limits for the largest object, whether the object is valid or all
// its providers are invalid.
func TestPolicyCost(t *testing.T) {
	c := newClient(t)
	object := largest(t)
	testutil.Must(t, c.Create(t.Context(), object.DeepCopy()))
	defer remove(t, c, object)
	stored := object.DeepCopy()
	testutil.Must(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), stored))
	set(t, stored, "vllm-1", "spec", "providers", "inference", "0", "id")
	if err := c.Update(t.Context(), stored, client.DryRunAll); err != nil {
		t.Errorf("update: %v", err)
	}

	wrong := object.DeepCopy()
	for _, api := range policyAPIs(t) {
		for i := range 64 {
			set(t, wrong, fmt.Sprint(i), "spec", "providers", api, fmt.Sprint(i), "id")
			set(t, wrong, "in clear", "spec", "providers", api, fmt.Sprint(i), "apiKey")
		}
	}
	wrong.SetName("largest-wrong")
	err := c.Create(t.Context(), wrong, client.DryRunAll)
	if err == nil || strings.Contains(err.Error(), "cost") || !strings.Contains(err.Error(), "spec.providers.inference[0].apiKey: must be") {
		t.Errorf("wrong everywhere: %v", err)
	}
}

func set(t *testing.T, object *unstructured.Unstructured, value any, path ...string) {
	t.Helper()
	var at any = object.Object
	for _, step := range path[:len(path)-1] {
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil {
				t.Fatal(err)
			}
			at = v[i]
		}
	}
	at.(map[string]any)[path[len(path)-1]] = value
}
