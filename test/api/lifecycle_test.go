package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/casetable"
)

// TestStoredObjectsStayUpdatable stores all rejected objects whose fields have the correct types, while no rules are
// installed. Then it installs the rules, changes the labels, finalizers and status of the objects, and deletes the
// objects. The rules must not prevent these changes.
func TestStoredObjectsStayUpdatable(t *testing.T) {
	bare, err := testutil.Start(testutil.Options{Bare: true})
	testutil.Must(t, err)
	defer func() {
		if err := bare.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := bare.Client()
	testutil.Must(t, err)
	installWithoutRules(t, bare, c)
	stored := storeRefused(t, c)
	testutil.Must(t, bare.Install())
	for name, tc := range stored {
		t.Run(tc.Topic+"/"+tc.Name, func(t *testing.T) { unrelatedChanges(t, c, name) })
	}
}

// installWithoutRules installs the definition with a schema that accepts any spec.
func installWithoutRules(t *testing.T, plane *testutil.ControlPlane, c client.Client) {
	t.Helper()
	definition := readDefinition(t)
	schema := versionOf(t, definition, v1alpha2.GroupVersion.Version).Schema.OpenAPIV3Schema
	keep := true
	schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keep}
	testutil.Must(t, c.Create(t.Context(), definition))
	testutil.Must(t, plane.WaitForDefinition())
}

// storeRefused stores the objects of rejected cases under unique names. The objects of the cases about names keep their
// own names. storeRefused omits objects that do not decode and objects without a distribution, because such objects
// could never have been stored.
func storeRefused(t *testing.T, c client.Client) map[string]*casetable.Case {
	t.Helper()
	stored := map[string]*casetable.Case{}
	for i, tc := range loadCases(t).Cases {
		if _, err := tc.Decode(); err != nil || len(tc.Server)+len(tc.Go) == 0 ||
			tc.Object["spec"].(map[string]any)["distribution"] == nil {
			continue
		}
		object := toObject(tc)
		name := fmt.Sprintf("stored-%d", i)
		if tc.Topic == "name" {
			name = object.GetName()
		}
		object.SetName(name)
		object.SetFinalizers([]string{"example.com/held"})
		if err := c.Create(t.Context(), object); err != nil {
			if strings.Contains(err.Error(), ".spec.workload.replicas: Invalid value") {
				continue // the scale subresource enforces this rule independently of the schema
			}
			t.Fatalf("store %s/%s: %v", tc.Topic, tc.Name, err)
		}
		stored[name] = tc
	}
	return stored
}

func unrelatedChanges(t *testing.T, c client.Client, name string) {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(v1alpha2.GroupVersionKind)
	object.SetName(name)
	object.SetNamespace("default")
	patch := func(what, text string, options ...client.PatchOption) {
		if err := c.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(text)), options...); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	patch("add a label", `{"metadata":{"labels":{"team":"ml"}}}`)
	if err := c.Status().Patch(t.Context(), object, client.RawPatch(types.MergePatchType,
		[]byte(`{"status":{"phase":"Failed","observedGeneration":1}}`))); err != nil {
		t.Errorf("patch status: %v", err)
	}
	if err := c.Delete(t.Context(), object); err != nil {
		t.Errorf("delete: %v", err)
	}
	patch("remove the finalizer", `{"metadata":{"finalizers":null}}`)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil ||
		err == nil {
		t.Errorf("the object still exists: %v", err)
	}
}

// TestPolicyIgnoresUnchangedFields checks that an object with an invalid part can still be changed in another part of
// its spec.
func TestPolicyIgnoresUnchangedFields(t *testing.T) {
	c := newClient(t)
	object := newStack("changed-part")
	object.Spec.Providers = &v1alpha2.ProvidersSpec{Inference: &v1alpha2.Providers{Raw: []byte(`{"id":true}`)}}
	withoutPolicy(t, c, func() {
		testutil.Must(t, c.Create(t.Context(), object))
	})
	defer remove(t, c, object)
	patch := func(text string) error {
		return c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)))
	}
	if err := patch(`{"spec":{"workload":{"replicas":0},"resources":{"models":["a"]}}}`); err != nil {
		t.Errorf("change another part: %v", err)
	}
	if err := patch(`{"spec":{"resources":{"models":[true]}}}`); err == nil {
		t.Error("an invalid model was accepted")
	}
	if err := patch(`{"spec":{"providers":{"safety":{"provider":"llama-guard"}}}}`); err == nil {
		t.Error("a change of the invalid part was accepted")
	}
	if err := patch(`{"spec":{"providers":{"inference":{"id":null,"provider":"vllm"}}}}`); err != nil {
		t.Errorf("fix the invalid part: %v", err)
	}
}

// The rules for overrideConfig compare an object with the old object. They still reject an update that combines two
// mutually exclusive fields (FR-013, FR-070).
func TestOverrideExcludesInUpdates(t *testing.T) {
	c := newClient(t)
	object := newStack("override-later")
	object.Spec.Providers = &v1alpha2.ProvidersSpec{Inference: v1alpha2.NewProviders(v1alpha2.Provider{Provider: "vllm"})}
	testutil.Must(t, c.Create(t.Context(), object))
	defer remove(t, c, object)
	err := c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"overrideConfig":{"configMapName":"my-config"}}}`)))
	if err == nil || !strings.Contains(err.Error(), "remove providers or overrideConfig") {
		t.Errorf("combine the fields: %v", err)
	}
	err = c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType,
		[]byte(`{"spec":{"providers":null,"overrideConfig":{"configMapName":"my-config"}}}`)))
	if err != nil {
		t.Errorf("replace one field with the other: %v", err)
	}
}

// withoutPolicy deletes the binding of the policy, calls the function `act`, and creates the binding again.
func withoutPolicy(t *testing.T, c client.Client, act func()) {
	t.Helper()
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config/policy/validatingadmissionpolicybinding.yaml"))
	testutil.Must(t, err)
	testutil.Must(t, c.Delete(t.Context(), objects[0].DeepCopy()))
	defer func() {
		testutil.Must(t, plane.Install())
	}()
	wrong := newStack("not.a.label")
	testutil.Eventually(t, "the policy to be inactive", func() (bool, error) {
		return c.Create(t.Context(), wrong.DeepCopy(), client.DryRunAll) == nil, nil
	})
	act()
}

// TestRoundTrip checks that the API server and the Go types preserve the form in which a field with two forms is
// written.
func TestRoundTrip(t *testing.T) {
	c := newClient(t)
	for i, tc := range loadCases(t).Cases {
		if len(tc.Server) > 0 {
			continue
		}
		t.Run(tc.Topic+"/"+tc.Name, func(t *testing.T) {
			object := toObject(tc)
			object.SetName(fmt.Sprintf("round-%d", i))
			written := maps.Clone(object.Object["spec"].(map[string]any))
			testutil.Must(t, c.Create(t.Context(), object))
			typed := &v1alpha2.LlamaStackDistribution{}
			testutil.Must(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), typed))
			defer remove(t, c, typed)
			typed.Labels = map[string]string{"through": "types"}
			testutil.Must(t, c.Update(t.Context(), typed))
			testutil.Must(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), object))
			if diff := cmp.Diff(normal(written), normal(object.Object["spec"])); diff != "" {
				t.Errorf("spec (-written +read):\n%s", diff)
			}
			if typed.Generation != object.GetGeneration() {
				t.Errorf("an update without a change increased the generation from %d to %d", typed.Generation, object.GetGeneration())
			}
		})
	}
}

// normal returns a spec in a normal form, so that equivalent specs are equal. The normal form contains the default
// number of replicas and the size of the storage as text, and contains neither null nor empty lists.
func normal(value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		panic(err)
	}
	spec := prune(plain).(map[string]any)
	workload, ok := spec["workload"].(map[string]any)
	if !ok {
		workload = map[string]any{}
	}
	if _, ok := workload["replicas"]; !ok {
		workload["replicas"] = json.Number("1")
	}
	if storage, ok := workload["storage"].(map[string]any); ok && storage["size"] != nil {
		storage["size"] = fmt.Sprint(storage["size"])
	}
	spec["workload"] = workload
	return spec
}

func prune(value any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for key, below := range object {
		list, isList := below.([]any)
		if below == nil || (isList && len(list) == 0) {
			delete(object, key)
			continue
		}
		object[key] = prune(below)
	}
	return object
}

func newStack(name string) *v1alpha2.LlamaStackDistribution {
	return &v1alpha2.LlamaStackDistribution{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha2.GroupVersion.String(), Kind: v1alpha2.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       v1alpha2.LlamaStackDistributionSpec{Distribution: v1alpha2.DistributionSpec{Name: "starter"}},
	}
}

func remove(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}
