package convert_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

type tree = map[string]any

// decodeJSON decodes JSON, and keeps numbers as they are written.
func decodeJSON(t *testing.T, data []byte) tree {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var object tree
	testutil.Must(t, decoder.Decode(&object))
	return object
}

func decodeYAML(t *testing.T, text []byte) tree {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	testutil.Must(t, err)
	return decodeJSON(t, data)
}

func encodeYAML(t *testing.T, object tree) []byte {
	t.Helper()
	data, err := json.Marshal(object)
	testutil.Must(t, err)
	text, err := yaml.JSONToYAML(data)
	testutil.Must(t, err)
	return text
}

// convertAndBack returns an object in the other version, and the object converted back.
func convertAndBack(object tree) (other, back tree) {
	if object["apiVersion"] == v1alpha1.GroupVersion.String() {
		other = convert.ToHub(object)
		return other, convert.FromHub(other)
	}
	other = convert.FromHub(object)
	return other, convert.ToHub(other)
}

// Each case shows an object in the other version, and the object is unchanged when it is converted back.
func TestConversion(t *testing.T) {
	const cases = "testdata/cases"
	for _, name := range golden.Cases(t, cases) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(cases, name)
			object := decodeYAML(t, golden.Read(t, filepath.Join(dir, "in.yaml")))
			before := encodeYAML(t, object)
			other, back := convertAndBack(object)
			golden.Dir(t, filepath.Join(dir, "want"), map[string][]byte{"other.yaml": encodeYAML(t, other)})
			if diff := cmp.Diff(string(encodeYAML(t, stored(object))), string(encodeYAML(t, stored(back)))); diff != "" {
				t.Errorf("the round trip changes the object (-before +after):\n%s", diff)
			}
			checkStored(t, back)
			if !bytes.Equal(before, encodeYAML(t, object)) {
				t.Error("the input was changed")
			}
		})
	}
}

// Lost values are restored only if the visible fields still agree with them.
func TestChangesInTheOtherVersion(t *testing.T) {
	for name, c := range map[string]struct {
		written string
		change  func(spec tree)
		want    string
	}{
		"another distribution removes the version": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {distribution: {name: starter, version: "0.7"}}}`,
			change:  func(spec tree) { at(spec, "server", "distribution")["name"] = "mine" },
			want:    `{distribution: {name: mine}}`,
		},
		"one more replica changes nothing else": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {distribution: {name: starter, version: "0.7"}, settings: {a: 1.50}}}`,
			change:  func(spec tree) { spec["replicas"] = json.Number("2") },
			want:    `{distribution: {name: starter, version: "0.7"}, settings: {a: 1.50}, workload: {replicas: 2}}`,
		},
		"a larger volume keeps its other fields": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {workload: {storage: {size: 1Gi, retainOnDelete: true}}}}`,
			change:  func(spec tree) { at(spec, "server", "storage")["size"] = "2Gi" },
			want:    `{workload: {storage: {size: 2Gi, retainOnDelete: true}}}`,
		},
		"the removal of a volume removes its storage class": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {workload: {storage: {size: 1Gi, storageClassName: fast}}}}`,
			change:  func(spec tree) { delete(at(spec, "server"), "storage") },
			want:    `{}`,
		},
		"a new port keeps TLS": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {networking: {tls: {enabled: true, secretName: c}}}}`,
			change:  func(spec tree) { spec["server"] = tree{"containerSpec": tree{"port": json.Number("9000")}} },
			want:    `{networking: {port: 9000, tls: {enabled: true, secretName: c}}}`,
		},
		"a state store adds no volume": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {storage: {kv: {type: sqlite}}}}`,
			change:  func(spec tree) { spec["replicas"] = json.Number("2") },
			want:    `{storage: {kv: {type: sqlite}}, workload: {replicas: 2}}`,
		},
		"a stack that is no longer exposed has no hostname": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {networking: {expose: {hostname: h}}}}`,
			change:  func(spec tree) { at(spec, "network")["exposeRoute"] = false },
			want:    `{networking: {expose: false}}`,
		},
		"another ConfigMap removes the key": {
			written: `{apiVersion: llamastack.io/v1alpha2, metadata: {name: a}, spec: {overrideConfig: {configMapName: c, key: k}}}`,
			change:  func(spec tree) { at(spec, "server", "userConfig")["configMapName"] = "d" },
			want:    `{overrideConfig: {configMapName: d}}`,
		},
		"enabled autoscaling has the values of v1alpha2": {
			written: `{apiVersion: llamastack.io/v1alpha1, metadata: {name: a}, spec: {server: {autoscaling: {minReplicas: 3, maxReplicas: 0}}}}`,
			change:  func(spec tree) { spec["workload"] = tree{"autoscaling": tree{"maxReplicas": json.Number("5")}} },
			want:    `{server: {autoscaling: {maxReplicas: 5}}}`,
		},
		"a changed provider has the values of v1alpha2": {
			written: `{apiVersion: llamastack.io/v1alpha1, metadata: {name: a}, spec: {server: {providers: {inference: {provider: a, config: {b: 1}}}}}}`,
			change:  func(spec tree) { at(spec, "providers", "inference")["settings"] = tree{"c": true} },
			want:    `{server: {providers: {inference: {provider: a, settings: {c: true}}}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			other, _ := convertAndBack(decodeYAML(t, []byte(c.written)))
			if other["spec"] == nil {
				other["spec"] = tree{}
			}
			c.change(at(other, "spec"))
			back, _ := convertAndBack(other)
			want := decodeYAML(t, []byte(c.want))
			if diff := cmp.Diff(want, at(back, "spec")); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

// Conversion adds the compatibility annotation when an object is created as v1alpha1, but not when an existing object
// is written.
func TestCompatMark(t *testing.T) {
	annotations := func(object tree) tree { return at(object, "metadata", "annotations") }
	older := decodeYAML(t, []byte(`{apiVersion: llamastack.io/v1alpha1, metadata: {name: a}, spec: {server: {distribution: {name: s}}}}`))
	hub := convert.ToHub(older)
	if got := annotations(hub)["llamastack.io/compat"]; got != "v1alpha1" {
		t.Errorf("created as v1alpha1: the compatibility annotation is %v", got)
	}
	delete(annotations(hub), "llamastack.io/compat")
	unmarked := convert.FromHub(hub)
	at(unmarked, "spec")["replicas"] = json.Number("3")
	if got := annotations(convert.ToHub(unmarked))["llamastack.io/compat"]; got != nil {
		t.Errorf("removed, then written through v1alpha1: the compatibility annotation is %v", got)
	}
	copied := maps.Clone(unmarked)
	copied["metadata"] = tree{"name": "b"}
	if got := annotations(convert.ToHub(copied))["llamastack.io/compat"]; got != "v1alpha1" {
		t.Errorf("created again as v1alpha1: the compatibility annotation is %v", got)
	}
}

func at(object tree, path ...string) tree {
	for _, step := range path {
		object, _ = object[step].(tree)
	}
	return object
}
