package convert_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// The API server adds the defaults of a version to objects that clients write in this version, and to objects that it
// reads from etcd. These defaults do not count as changes, so reading an object and writing it back changes nothing.
func TestDefaultsChangeNothing(t *testing.T) {
	for _, object := range someObjects(t) {
		if object["apiVersion"] == v1alpha1.GroupVersion.String() {
			written := defaultOlder(object)
			kept := defaultHub(convert.ToHub(written))
			if diff := cmp.Diff(stored(written), stored(defaultOlder(convert.FromHub(kept)))); diff != "" {
				t.Fatalf("the object differs after it is written and read as v1alpha1 (-written +read):\n%s", diff)
			}
			continue
		}
		kept := defaultHub(object)
		if diff := cmp.Diff(stored(kept), defaultHub(convert.ToHub(defaultOlder(convert.FromHub(kept))))); diff != "" {
			t.Fatalf("the object differs after it is read as v1alpha1 and written back (-before +after):\n%s", diff)
		}
	}
}

// someObjects returns the golden cases, and filled objects of both versions.
func someObjects(t *testing.T) []tree {
	t.Helper()
	const cases = "testdata/cases"
	var objects []tree
	for _, name := range golden.Cases(t, cases) {
		objects = append(objects, decodeYAML(t, golden.Read(t, filepath.Join(cases, name, "in.yaml"))))
	}
	for seed := range int64(30) {
		older, hub := &v1alpha1.LlamaStackDistribution{}, &v1alpha2.LlamaStackDistribution{}
		fill(randfill.NewWithSeed(seed), older)
		fill(randfill.NewWithSeed(seed), hub)
		older.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind}
		hub.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha2.GroupVersion.String(), Kind: v1alpha2.Kind}
		objects = append(objects, toTree(t, older), toTree(t, hub))
	}
	return objects
}

// defaultOlder adds the defaults of the v1alpha1 schema: replicas, and the name of a container that has a spec.
func defaultOlder(object tree) tree {
	object = runtime.DeepCopyJSON(object)
	setMissing(at(object, "spec"), "replicas", json.Number("1"))
	setMissing(at(object, "spec", "server", "containerSpec"), "name", v1alpha1.DefaultContainerName)
	return object
}

// defaultHub adds the defaults of the v1alpha2 schema: workload and its replicas.
func defaultHub(object tree) tree {
	object = runtime.DeepCopyJSON(object)
	setMissing(at(object, "spec"), "workload", tree{})
	setMissing(at(object, "spec", "workload"), "replicas", json.Number("1"))
	return object
}

func setMissing(object tree, key string, value any) {
	if _, given := object[key]; !given && object != nil {
		object[key] = value
	}
}
