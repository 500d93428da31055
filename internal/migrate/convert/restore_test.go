package convert_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	olderDemo = `{apiVersion: llamastack.io/v1alpha1, kind: LlamaStackDistribution, metadata: {name: a, annotations: {mine: b}}, spec: {replicas: 1, server: {
		distribution: {name: starter}, userConfig: {configMapName: config}, tlsConfig: {caBundle: {configMapName: ca}},
		autoscaling: {maxReplicas: 3}, providers: {inference: {provider: vllm, endpoint: "http://a"}}}}}`
	hubDemo = `{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: a, annotations: {mine: b}}, spec: {
		distribution: {name: starter},
		overrideConfig: {configMapName: config}, networking: {tls: {caBundle: {configMapName: ca}}},
		workload: {replicas: 1, autoscaling: {maxReplicas: 3}}}}`
)

// forged returns an annotation that restores one value. The parameter `seen` is the visible value at the path as JSON,
// or empty.
func forged(path, seen, value string) string {
	lost := map[string]any{"path": path}
	if seen != "" {
		sum := sha256.Sum256([]byte(seen))
		lost["seen"] = hex.EncodeToString(sum[:])[:16]
	}
	if value != "" {
		lost["value"] = json.RawMessage(value)
	}
	ordered := struct {
		Path  any `json:"path"`
		Seen  any `json:"seen,omitempty"`
		Value any `json:"value,omitempty"`
	}{lost["path"], lost["seen"], lost["value"]}
	data, err := json.Marshal(map[string]any{"lost": []any{ordered}})
	if err != nil {
		panic(err) // the cases below are JSON
	}
	return string(data)
}

// Conversion ignores a forged annotation: the object is converted as if it had no annotation.
func TestForgedDataIsIgnored(t *testing.T) {
	const notOurs, noPlace, otherType, visible = "the form that the conversion writes", "is not a valid path",
		"the type of its field", "contradicts the fields"
	for name, c := range map[string]struct{ in, data, want string }{
		"no JSON":                        {olderDemo, "{", notOurs},
		"truncated":                      {olderDemo, forged("/spec/workload/preflight", "", `"Never"`)[:40], notOurs},
		"another spelling":               {olderDemo, forged("/spec/workload/preflight", "", `"Never"`) + " ", notOurs},
		"unknown fields":                 {olderDemo, `{"lost":[],"more":1}`, notOurs},
		"an unknown version of creation": {olderDemo, `{"born":"v1alpha3"}`, notOurs},
		"longer than an annotation can be": {
			olderDemo, forged("/spec/settings", "", `{"a":"`+strings.Repeat("x", 300<<10)+`"}`), notOurs,
		},
		"a quantity whose exponent takes minutes to decode": {
			strings.Replace(olderDemo, "server: {", "server: {containerSpec: {resources: {limits: {cpu: \"1e-99999\"}}}, ", 1),
			forged("/spec/workload/resources/limits/cpu", `"1e-99999"`, `"1e-99999"`), otherType,
		},
		"a name":                        {olderDemo, forged("/metadata/name", "", `"b"`), noPlace},
		"the status":                    {olderDemo, forged("/status/phase", "", `"Ready"`), noPlace},
		"the kind":                      {olderDemo, forged("/kind", "", `"Pod"`), noPlace},
		"the root":                      {olderDemo, forged("", "", `{}`), noPlace},
		"not a pointer":                 {olderDemo, forged("spec/settings", "", `{}`), noPlace},
		"deeper than any field":         {olderDemo, forged("/spec/a/b/c/d/e/f/g/h/i", "", `1`), noPlace},
		"all annotations":               {olderDemo, forged("/annotations", "", `{"a":"b"}`), noPlace},
		"below an annotation":           {olderDemo, forged("/annotations/llamastack.io~1container-name/a", "", `"b"`), noPlace},
		"another namespace":             {olderDemo, forged("/annotations/llamastack.io~1user-config-namespace", "", `"kube-system"`), noPlace},
		"a bundle in another namespace": {olderDemo, forged("/annotations/llamastack.io~1ca-bundle-namespace", "", `"kube-system"`), noPlace},
		"a pause":                       {olderDemo, forged("/annotations/llamastack.io~1paused", "", `"true"`), noPlace},
		"accepted loss of data":         {olderDemo, forged("/annotations/llamastack.io~1accept-data-loss", "", `"all"`), noPlace},
		"another mark":                  {olderDemo, forged("/annotations/llamastack.io~1compat", `"v1alpha1"`, ``), noPlace},
		"another annotation":            {olderDemo, forged("/annotations/mine", `"b"`, `"c"`), noPlace},
		"an invalid key":                {olderDemo, forged("/annotations/no key", "", `"c"`), noPlace},
		"its own annotation":            {olderDemo, forged("/annotations/llamastack.io~1conversion-data", "", `"c"`), noPlace},
		"an annotation with a number":   {olderDemo, forged("/annotations/llamastack.io~1container-name", "", `7`), noPlace},
		"a container's name":            {olderDemo, forged("/annotations/llamastack.io~1container-name", "", `"other"`), visible},
		"a value that is nested too deeply": {olderDemo, forged("/spec/settings", "",
			strings.Repeat("[", 9_900)+strings.Repeat("]", 9_900)), noPlace},
		"a number instead of text":    {olderDemo, forged("/spec/workload/preflight", "", `7`), otherType},
		"text instead of an object":   {olderDemo, forged("/spec/secretEnv", "", `{"A":"x"}`), otherType},
		"an object instead of a list": {olderDemo, forged("/spec/removeSettings", "", `{}`), otherType},
		"no quantity":                 {olderDemo, forged("/spec/workload/storage", "", `{"size":"x"}`), visible},
		"a number instead of a storage class": {
			strings.Replace(olderDemo, "autoscaling", "storage: {}, autoscaling", 1),
			forged("/spec/workload/storage/storageClassName", "", `7`), otherType,
		},
		"v1alpha2: a disabled userConfig with a number": {strings.Replace(hubDemo, "overrideConfig: {configMapName: config}, ", "", 1), forged("/spec/server/userConfig", "", `{"configMapName":"","configMapNamespace":7}`), otherType},
		"a list instead of the spec":                    {olderDemo, forged("/spec", "", `[]`), ""},
		"other replicas":                                {olderDemo, forged("/spec/workload/replicas", "1", `100`), visible},
		"an image and a name":                           {olderDemo, forged("/spec/distribution", `{"name":"starter"}`, `{"image":"evil"}`), visible},
		"another ConfigMap": {olderDemo, forged("/spec/overrideConfig", `{"configMapName":"config"}`,
			`{"configMapName":"other"}`), visible},
		"another endpoint":                   {olderDemo, forged("/spec/providers/inference", `{"endpoint":"http://a","provider":"vllm"}`, `{"endpoint":"http://b","provider":"vllm"}`), visible},
		"an exposure":                        {olderDemo, forged("/spec/networking/expose", "", `true`), visible},
		"a variable":                         {olderDemo, forged("/spec/workload/overrides/env", "", `[{"name":"A"}]`), visible},
		"v1alpha2: another namespace":        {hubDemo, forged("/annotations/llamastack.io~1user-config-namespace", "", `"kube-system"`), visible},
		"v1alpha2: a namespace's field":      {hubDemo, forged("/spec/server/userConfig", `{"configMapName":"config"}`, `{"configMapName":"config","configMapNamespace":"kube-system"}`), visible},
		"v1alpha2: a bundle's field":         {hubDemo, forged("/spec/server/tlsConfig/caBundle/configMapNamespace", "", `"kube-system"`), visible},
		"v1alpha2: a pause":                  {hubDemo, forged("/annotations/llamastack.io~1paused", "", `"true"`), noPlace},
		"v1alpha2: a number instead of text": {hubDemo, forged("/spec/server/storage", "", `{"mountPath":7}`), visible},
		"v1alpha2: no JSON":                  {hubDemo, "}", notOurs},
	} {
		t.Run(name, func(t *testing.T) {
			object := decodeYAML(t, []byte(c.in))
			plain, _ := convertAndBack(object)
			at(object, "metadata", "annotations")[conversionData] = c.data
			got, _ := convertAndBack(object)
			if diff := cmp.Diff(plain, got); diff != "" {
				t.Errorf("the annotation changed the result (-without +with):\n%s", diff)
			}
			if err := convert.DataProblem(object); c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("the annotation is ignored because of %v, want %q", err, c.want)
			} else if errors.Is(err, convert.ErrOmitted) {
				t.Error("the annotation is reported as incomplete")
			}
		})
	}
}

// Conversion also ignores an annotation whose value is not a string.
func TestDataThatIsNoText(t *testing.T) {
	for _, data := range []any{json.Number("7"), []any{"a"}, tree{}, true} {
		object := decodeYAML(t, []byte(olderDemo))
		plain := convert.ToHub(object)
		at(object, "metadata", "annotations")[conversionData] = data
		if diff := cmp.Diff(plain, convert.ToHub(object)); diff != "" {
			t.Errorf("%v (-without +with):\n%s", data, diff)
		}
		if convert.DataProblem(object) == nil {
			t.Errorf("%v: no problem is reported", data)
		}
	}
}

// An annotation that conversion wrote is never ignored, even if it no longer agrees with the object.
func TestOwnDataIsNotIgnored(t *testing.T) {
	for _, object := range someObjects(t) {
		other, back := convertAndBack(object)
		for _, converted := range []tree{object, other, back} {
			if err := convert.DataProblem(converted); err != nil {
				t.Fatalf("%v: %v", err, converted)
			}
		}
	}
	stale := decodeYAML(t, []byte(olderDemo))
	at(stale, "metadata", "annotations")[conversionData] = forged("/spec/distribution", `{"name":"old"}`,
		`{"name":"old","version":"0.7"}`)
	if err := convert.DataProblem(stale); err != nil {
		t.Error(err)
	}
}

// An edit to any visible field takes precedence over the annotation, in both versions.
func TestEveryEditWins(t *testing.T) {
	edits := 0
	objects := someObjects(t)
	for _, object := range objects[:len(objects)-50] {
		delete(object, "status") // The status is derived.
		other, _ := convertAndBack(object)
		spec, _ := other["spec"].(tree)
		edited := decodeJSON(t, encodeJSON(t, other))
		edit(at(edited, "spec"), spec, func() {
			if !fits(edited) {
				return
			}
			edits++
			if _, back := convertAndBack(edited); !cmp.Equal(withoutData(edited), withoutData(back)) {
				t.Fatalf("the round trip changes the edited object (-edited +after):\n%s", cmp.Diff(withoutData(edited), withoutData(back)))
			}
		})
	}
	if edits < 500 {
		t.Errorf("only %d edits", edits)
	}
}

// edit changes every string, boolean and number in an object, and removes every field, one at a time. It calls check
// after each edit.
func edit(object, was tree, check func()) {
	for key, value := range was {
		switch value := value.(type) {
		case tree:
			edit(at(object, key), value, check)
		case string:
			object[key] = value + "x"
			check()
		case bool:
			object[key] = !value
			check()
		case json.Number:
			object[key] = value + "1"
			check()
		}
		kept := was[key]
		delete(object, key)
		check()
		object[key] = decoded(kept)
	}
}

// decoded returns a copy of an object, and any other value unchanged.
func decoded(value any) any {
	if fields, ok := value.(tree); ok {
		return clone(fields)
	}
	return value
}

func clone(fields tree) tree {
	result := tree{}
	for key, value := range fields {
		result[key] = decoded(value)
	}
	return result
}

func encodeJSON(t *testing.T, object tree) []byte {
	t.Helper()
	data, err := json.Marshal(object)
	testutil.Must(t, err)
	return data
}

// When a v1alpha1 manifest is applied again, the object contains the same values as the manifest. The conversion does
// not add any fields that an apply would own.
func TestAppliedAgain(t *testing.T) {
	for _, object := range someObjects(t) {
		if object["apiVersion"] != v1alpha1.GroupVersion.String() {
			continue
		}
		delete(object, "status") // The status is derived.
		stored := convert.ToHub(object)
		for range 3 {
			read := convert.FromHub(stored)
			if diff := cmp.Diff(object, read); diff != "" {
				t.Fatalf("the object differs after it is written and read (-written +read):\n%s", diff)
			}
			again := convert.ToHub(read)
			if diff := cmp.Diff(stored, again); diff != "" {
				t.Fatalf("the second write changes the stored object (-first +second):\n%s", diff)
			}
			stored = again
		}
	}
}

// If a client whose types lack some v1alpha1 fields writes the object, the write removes only these fields. If a client
// drops the annotation, the values in the annotation are lost.
func TestOldClientDropsFields(t *testing.T) {
	born := decodeYAML(t, []byte(`{apiVersion: llamastack.io/v1alpha2, kind: LlamaStackDistribution, metadata: {name: a}, spec: {
		distribution: {name: starter, version: "0.7"}, secretEnv: {A: {secretKeyRef: {name: s, key: k}}},
		providers: {inference: {provider: vllm}},
		workload: {replicas: 1, workers: 2, storage: {size: 1Gi, storageClassName: fast}}}}`))
	for name, c := range map[string]struct {
		drop func(object tree)
		want string
	}{
		"fields": {func(object tree) {
			delete(at(object, "spec", "server"), "providers")
			delete(at(object, "spec", "server"), "workers")
		}, `{distribution: {name: starter, version: "0.7"}, secretEnv: {A: {secretKeyRef: {name: s, key: k}}},
			workload: {replicas: 1, storage: {size: 1Gi, storageClassName: fast}}}`},
		"the annotation": {func(object tree) {
			delete(object["metadata"].(tree), "annotations")
		}, `{distribution: {name: starter}, providers: {inference: {provider: vllm}}, workload: {replicas: 1, workers: 2, storage: {size: 1Gi}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			older := convert.FromHub(born)
			c.drop(older)
			if diff := cmp.Diff(decodeYAML(t, []byte(c.want)), at(convert.ToHub(older), "spec")); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}
