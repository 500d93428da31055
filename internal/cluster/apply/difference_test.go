package apply_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const manager = "tester"

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	result := &unstructured.Unstructured{}
	testutil.Must(t, yaml.UnmarshalStrict([]byte(text), &result.Object))
	data, err := result.MarshalJSON()
	testutil.Must(t, err)
	testutil.Must(t, result.UnmarshalJSON(data))
	return result
}

// These are the live object, and the fields that the tester owns, as an API server stores them. The object contains
// defaults in addition to the applied fields.
const (
	liveText = `
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n, labels: {ours: a, theirs: b}, creationTimestamp: null}
spec:
  containers:
  - name: injected
  - name: server
    image: i
    args: [x, y]
    env:
    - {name: A, value: "1"}
    - {name: B, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: metadata.name}}}
    ports: [{containerPort: 80, protocol: TCP}]
  volumes: [{name: v, emptyDir: {}}]
  nodeSelector: {disk: ssd}
  priority: 5
`
	ownedText = `{"f:metadata":{"f:labels":{"f:ours":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"server\"}":{".":{},` +
		`"f:name":{},"f:image":{},"f:args":{},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}},` +
		`"k:{\"name\":\"B\"}":{".":{},"f:name":{},"f:valueFrom":{"f:fieldRef":{}}}},` +
		`"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}},` +
		`"f:volumes":{"k:{\"name\":\"v\"}":{".":{},"f:name":{},"f:emptyDir":{}}},"f:nodeSelector":{},"f:priority":{}}}`
	wantedText = `
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n, labels: {ours: a}}
spec:
  containers:
  - name: server
    image: i
    args: [x, y]
    env:
    - {name: A, value: "1"}
    - {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
    ports: [{containerPort: 80}]
  volumes: [{name: v, emptyDir: {}}]
  nodeSelector: {disk: ssd}
  priority: 5.0
`
)

func setField(value any, path ...string) func(*testing.T, *unstructured.Unstructured) {
	return func(t *testing.T, u *unstructured.Unstructured) {
		t.Helper()
		testutil.Must(t, unstructured.SetNestedField(u.Object, value, path...))
	}
}

func changeContainer(change func(map[string]any)) func(*testing.T, *unstructured.Unstructured) {
	return func(t *testing.T, u *unstructured.Unstructured) {
		t.Helper()
		containers, _, err := unstructured.NestedSlice(u.Object, "spec", "containers")
		testutil.Must(t, err)
		last, ok := containers[len(containers)-1].(map[string]any)
		if !ok {
			t.Fatal("no container")
		}
		change(last)
		testutil.Must(t, unstructured.SetNestedSlice(u.Object, containers, "spec", "containers"))
	}
}

func envVar(name, value string) any { return map[string]any{"name": name, "value": value} }

// inForceCases are the cases of TestInForce.
var inForceCases = []struct {
	name         string
	wanted, live func(*testing.T, *unstructured.Unstructured)
	want         bool
}{
	{name: "same", want: true},
	{name: "empty value that the API server drops", wanted: setField(false, "spec", "hostNetwork"), want: true},
	{name: "null value of a missing field", wanted: setField(nil, "spec", "strategy"), want: true},
	{name: "label of another manager", live: setField("c", "metadata", "labels", "theirs"), want: true},
	{name: "different value", wanted: setField("b", "metadata", "labels", "ours")},
	{name: "new label", wanted: setField("b", "metadata", "labels", "more")},
	{name: "owned label is not wanted", wanted: setField(map[string]any{}, "metadata", "labels")},
	{name: "owned field is not wanted", wanted: func(_ *testing.T, u *unstructured.Unstructured) {
		unstructured.RemoveNestedField(u.Object, "spec", "priority")
	}},
	{name: "new key in an atomic map", live: setField(map[string]any{"disk": "ssd", "more": "x"}, "spec",
		"nodeSelector")},
	{name: "owned key of an atomic map is not wanted", wanted: setField(map[string]any{}, "spec", "nodeSelector")},
	{name: "different number", wanted: setField(int64(6), "spec", "priority")},
	{name: "fewer arguments", wanted: changeContainer(func(c map[string]any) { c["args"] = []any{"x"} })},
	{name: "different order of arguments", wanted: changeContainer(func(c map[string]any) { c["args"] = []any{"y", "x"} })},
	{name: "different image", wanted: changeContainer(func(c map[string]any) { c["image"] = "j" })},
	{name: "owned variable is not wanted", wanted: changeContainer(func(c map[string]any) { c["env"] = []any{envVar("A", "1")} })},
	{name: "new variable", wanted: changeContainer(func(c map[string]any) { c["env"] = append(c["env"].([]any), envVar("C", "1")) })},
	{name: "different order of variables", wanted: changeContainer(func(c map[string]any) {
		env := c["env"].([]any)
		c["env"] = []any{env[1], env[0]}
	})},
	{name: "reference to another field of the pod", wanted: changeContainer(func(c map[string]any) {
		c["env"] = []any{envVar("A", "1"), map[string]any{
			"name":      "B",
			"valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.uid"}},
		}}
	})},
	{name: "container is missing", live: setField([]any{}, "spec", "containers")},
}

func TestInForce(t *testing.T) {
	for _, tc := range inForceCases {
		t.Run(tc.name, func(t *testing.T) {
			wanted, live := object(t, wantedText), object(t, liveText)
			live.SetManagedFields([]metav1.ManagedFieldsEntry{
				{Manager: "other", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{}`)},
				{
					Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsType: "FieldsV1",
					FieldsV1: metav1.NewFieldsV1(ownedText),
				},
			})
			if tc.wanted != nil {
				tc.wanted(t, wanted)
			}
			if tc.live != nil {
				tc.live(t, live)
			}
			if got := apply.InForce(wanted, live, manager); got != tc.want {
				t.Errorf("InForce = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestInForceWithoutOwnedFields(t *testing.T) {
	wanted, live := object(t, wantedText), object(t, liveText)
	for name, entry := range map[string]metav1.ManagedFieldsEntry{
		"entry without a manager": {},
		"entry of an update":      {Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsV1: metav1.NewFieldsV1(ownedText)},
		"entry of the status":     {Manager: manager, Operation: metav1.ManagedFieldsOperationApply, Subresource: "status", APIVersion: "v1", FieldsV1: metav1.NewFieldsV1(ownedText)},
		"invalid fields":          {Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1", FieldsV1: metav1.NewFieldsV1(`{"x":1}`)},
		"no fields":               {Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: "v1"},
	} {
		t.Run(name, func(t *testing.T) {
			live.SetManagedFields([]metav1.ManagedFieldsEntry{entry})
			if apply.InForce(wanted, live, manager) {
				t.Error("in force although the manager has not applied the object")
			}
		})
	}
}
