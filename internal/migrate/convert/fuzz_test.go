package convert_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/randfill"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

const conversionData = "llamastack.io/conversion-data"

// FuzzOlder checks that, for any JSON of a v1alpha1 object, conversion to v1alpha2 and back results in the same object,
// except for the parts of the status that are not stored.
func FuzzOlder(f *testing.F) { fuzzTree(f, v1alpha1.GroupVersion.String()) }

// FuzzHub checks the same for v1alpha2.
func FuzzHub(f *testing.F) { fuzzTree(f, v1alpha2.GroupVersion.String()) }

func fuzzTree(f *testing.F, apiVersion string) {
	addCases(f)
	for _, odd := range []string{
		`{}`, `{"metadata":{"annotations":{"a":"b"}},"spec":null}`, `{"metadata":{},"spec":{"server":{},"network":{"unknown":7}}}`,
		`{"metadata":{"annotations":{"llamastack.io/compat":"x","llamastack.io/conversion-data":"{"}},"spec":{}}`,
		`{"metadata":{"annotations":{"llamastack.io/conversion-data":"{\"lost\":[{\"path\":\"/spec/a/b\",\"value\":1}]}"}},"spec":{"a":1}}`,
		`{"metadata":{"annotations":{"llamastack.io/container-name":""}},"spec":{"server":{"containerSpec":{"name":null}}}}`,
		`{"metadata":{},"spec":{"workload":{"storage":null,"autoscaling":{}},"networking":{"expose":{}}}}`,
		`{"metadata":{},"status":{"conditions":[7,{"type":"HealthCheck"},{"type":"Available","status":"True"},{"type":7}],"distributionConfig":{"providers":[{"config":null},7]}}}`,
		`{"metadata":{},"status":{"conditions":{"type":"Available"},"configGeneration":7,"generatedConfigMap":{},"distributionConfig":[]}}`,
		`{"metadata":{},"status":{"conditions":[{"type":"ServiceReady"},{"type":"DeploymentUpdated","status":"False"}],"serviceURL":"x","configGeneration":{"configMapName":"c"}}}`,
	} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		object, ok := storable(data, apiVersion)
		if !ok {
			return
		}
		_, back := convertAndBack(object)
		// A comparison takes a tenth of the time that a diff takes, so the test computes the diff only if the objects differ.
		if was, is := sameStored(object), sameStored(back); !reflect.DeepEqual(was, is) {
			t.Fatalf("there and back (-was +is):\n%s", cmp.Diff(was, is))
		}
		checkStored(t, back)
		// An annotation that a user wrote can contradict the object. After conversion has written the annotation, further
		// conversions do not change the object.
		if _, again := convertAndBack(back); !reflect.DeepEqual(back, again) {
			t.Fatalf("there and back once more (-was +is):\n%s", cmp.Diff(back, again))
		}
	})
}

// addCases adds the golden cases to a fuzz target.
func addCases(f *testing.F) {
	const cases = "testdata/cases"
	for _, name := range golden.Cases(f, cases) {
		data, err := yaml.YAMLToJSON(golden.Read(f, filepath.Join(cases, name, "in.yaml")))
		testutil.Must(f, err)
		f.Add(data)
	}
}

// storable decodes JSON that an API server can store: an object with metadata of the usual form, and a spec that fits
// the types of its version and can have unknown fields.
func storable(data []byte, apiVersion string) (tree, bool) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object tree
	if err := decoder.Decode(&object); err != nil || object == nil {
		return nil, false
	}
	metadata, ok := object["metadata"].(tree)
	if !ok {
		return nil, false
	}
	if annotations, given := metadata["annotations"]; given {
		fields, isObject := annotations.(tree)
		if !isObject || len(fields) == 0 {
			return nil, false
		}
		for _, value := range fields {
			if _, isText := value.(string); !isText {
				return nil, false
			}
		}
	}
	object["apiVersion"] = apiVersion
	return object, fits(object)
}

func fits(object tree) bool {
	data, err := json.Marshal(tree{"spec": object["spec"]})
	if err != nil {
		return false
	}
	if object["apiVersion"] == v1alpha1.GroupVersion.String() {
		return utiljson.Unmarshal(data, &v1alpha1.LlamaStackDistribution{}) == nil
	}
	return utiljson.Unmarshal(data, &v1alpha2.LlamaStackDistribution{}) == nil
}

// withoutData returns an object without the conversion-data annotation.
func withoutData(object tree) tree {
	result := runtime.DeepCopyJSON(object)
	if annotations := at(result, "metadata", "annotations"); annotations != nil {
		delete(annotations, conversionData)
		if len(annotations) == 0 {
			delete(at(result, "metadata"), "annotations")
		}
	}
	return result
}

// If the types of one version can hold a value, the types of the other version can read it, and a round trip returns
// the same value.
func FuzzTypes(f *testing.F) {
	f.Add([]byte("seed"))
	f.Fuzz(func(t *testing.T, data []byte) {
		roundTripTypes(t, func() *randfill.Filler { return randfill.NewFromGoFuzz(data) })
	})
}

// TestTypes checks the same as FuzzTypes for enough random objects to give every field several values.
func TestTypes(t *testing.T) {
	for seed := range int64(100) {
		roundTripTypes(t, func() *randfill.Filler { return randfill.NewWithSeed(seed) })
	}
}

func roundTripTypes(t *testing.T, filler func() *randfill.Filler) {
	t.Helper()
	older, hub := &v1alpha1.LlamaStackDistribution{}, &v1alpha2.LlamaStackDistribution{}
	fill(filler(), older)
	older.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind}
	checkTypes(t, older, &v1alpha2.LlamaStackDistribution{}, &v1alpha1.LlamaStackDistribution{})
	fill(filler(), hub)
	hub.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha2.GroupVersion.String(), Kind: v1alpha2.Kind}
	checkTypes(t, hub, &v1alpha1.LlamaStackDistribution{}, &v1alpha2.LlamaStackDistribution{})
}

func checkTypes(t *testing.T, written, other, back any) {
	t.Helper()
	converted, returned := convertAndBack(toTree(t, written))
	fromTree(t, converted, other)
	fromTree(t, returned, back)
	if diff := cmp.Diff(stored(toTree(t, written)), stored(toTree(t, back))); diff != "" {
		t.Fatalf("there and back (-was +is):\n%s", diff)
	}
	if diff := cmp.Diff(stored(toTree(t, written)), stored(convertFromTypes(t, other))); diff != "" {
		t.Fatalf("back through the types of the other version (-was +is):\n%s", diff)
	}
}

func convertFromTypes(t *testing.T, object any) tree {
	t.Helper()
	values := toTree(t, object)
	if _, isHub := object.(*v1alpha2.LlamaStackDistribution); isHub {
		return convert.FromHub(values)
	}
	return convert.ToHub(values)
}

func toTree(t *testing.T, object any) tree {
	t.Helper()
	data, err := json.Marshal(object)
	testutil.Must(t, err)
	return decodeJSON(t, data)
}

func fromTree(t *testing.T, values tree, into any) {
	t.Helper()
	data, err := json.Marshal(values)
	testutil.Must(t, err)
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("the types do not read what conversion wrote: %v", err)
	}
}
