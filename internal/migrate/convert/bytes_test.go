package convert_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/nesting"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	older = "llamastack.io/v1alpha1"
	newer = "llamastack.io/v1alpha2"
)

// otherVersion returns the version to which an object is converted.
func otherVersion(object tree) string {
	if object["apiVersion"] == older {
		return newer
	}
	return older
}

func convertBytes(t *testing.T, object []byte, to string) []byte {
	t.Helper()
	result, err := convert.AppendJSON(nil, object, to)
	testutil.Must(t, err)
	return result
}

// An object with sorted keys, as an API server writes it, has the same bytes after any number of round trips.
func TestBytesAreStable(t *testing.T) {
	for _, object := range someObjects(t) {
		object["kind"] = v1alpha1.Kind
		delete(object, "status") // The status is derived.
		written, to := encodePlain(t, object), otherVersion(object)
		other := convertBytes(t, written, to)
		back := convertBytes(t, other, object["apiVersion"].(string))
		if diff := cmp.Diff(string(written), string(back)); diff != "" {
			t.Fatalf("the round trip changes the object (-before +after):\n%s", diff)
		}
		if again := convertBytes(t, back, to); !bytes.Equal(other, again) {
			t.Fatalf("a second conversion has another result (-first +second):\n%s", cmp.Diff(string(other), string(again)))
		}
		if same := convertBytes(t, written, object["apiVersion"].(string)); !bytes.Equal(written, same) {
			t.Fatalf("the conversion to its own version changes the object (-before +after):\n%s", cmp.Diff(string(written), string(same)))
		}
	}
}

// FuzzBytes checks that AppendJSON converts an object in the same way as ToHub and FromHub, however its JSON is
// written, and that it accepts the same JSON as encoding/json.
func FuzzBytes(f *testing.F) {
	addCases(f)
	f.Add([]byte(` { "metadata" : { "annotations":{"\u0061":"\u003c"} } , "spec":{"server":{"providers":{"inference":[ {"config":{"b":1, "a":[1.50]}} ]}}} } `))
	f.Add([]byte(`{"metadata":{},"spec":{"server":{"providers":{"inference":{"settings":{"b":1,"a":"ü\u2028"},"region":"x"}},"userConfig":{"configMapName":""}}}}`))
	for _, odd := range []string{
		"", " 1 ", "01", "-", "-0.5e+7", "1.", "1e", "[1,]", "[,1]", "[1 2]", `{"a":1,}`, `{"a" 1}`, `{"a":}`, `{a:1}`,
		"[[]}", "nul", "true1",
		`"\u00e4\n\ud800"`, `"\u123"`, "\"\\u123\x14\"", `"\x"`, "\"\x7f\xff\"", "\"\x1f\"", `"a`, "[\"a\\\"]",
	} {
		f.Add([]byte(odd))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkIsJSON(t, data)
		checkIsJSON(t, slices.Concat([]byte(`{"x":[`), data, []byte("]}")))
		for _, apiVersion := range []string{older, newer} {
			object, ok := storable(data, apiVersion)
			if !ok || !json.Valid(data) {
				return
			}
			object["kind"] = v1alpha1.Kind
			spelt := respelt(t, data, apiVersion)
			want, _ := convertAndBack(object)
			got := decodeJSON(t, convertBytes(t, spelt, otherVersion(object)))
			if diff := cmp.Diff(decodeJSON(t, encodeJSON(t, want)), got); diff != "" {
				t.Fatalf("the conversions by values and by bytes differ (-values +bytes):\n%s", diff)
			}
		}
	})
}

func checkIsJSON(t *testing.T, data []byte) {
	t.Helper()
	_, err := convert.AppendJSON(nil, data, newer)
	if taken := err == nil || err.Error() != "it is not JSON"; taken != json.Valid(data) {
		t.Fatalf("%q is JSON: %v, accepted: %v: %v", data, !taken, taken, err)
	}
}

// AppendJSON applies the depth limit of encoding/json to any JSON. It cuts an object that is too deep for a list in the
// other version, whether it changes the version or not, and returns no error, because an error would fail the list.
func TestDepth(t *testing.T) {
	for depth, want := range map[int]int{999: 1_000, 1_000: 1_000, 9_900: 1_000, 9_999: 1_000, 10_000: 0} {
		list := strings.Repeat("[", depth) + strings.Repeat("]", depth)
		object := `{"apiVersion":"` + older + `","kind":"LlamaStackDistribution","metadata":{},"spec":{},"x":` + list + "}"
		for _, version := range convert.Versions {
			got, err := convert.AppendJSON(nil, []byte(object), version)
			if want == 0 {
				if err == nil || err.Error() != "it is not JSON" {
					t.Errorf("%d: error %v", depth, err)
				}
				continue
			}
			if _, deepest := nesting.Cut(got, depth); err != nil || deepest != want || !json.Valid(got) {
				t.Errorf("%d levels to %s: error %v, %d levels", depth, version, err, deepest)
			}
		}
		checkIsJSON(t, []byte(object))
	}
}

// An object with many fields, in any order and with a duplicate, is converted in the same way as an object with few
// fields.
func TestManyFields(t *testing.T) {
	var written strings.Builder
	kept := tree{}
	for i := range 100 {
		fmt.Fprintf(&written, `"k%d":%d,`, i*37%100, i)
		kept[fmt.Sprintf("k%d", i*37%100)] = json.Number(strconv.Itoa(i))
	}
	fields := written.String() + `"k5":"last"`
	kept["k5"] = "last"
	object := `{"apiVersion":"` + older + `","kind":"LlamaStackDistribution","metadata":{"name":"a"},"spec":{` + fields +
		`,"server":{"providers":{"inference":{` + fields + `,"provider":"vllm","region":"here","deploymentName":"d","config":{` + fields + `}}}}}}`
	hub := convertBytes(t, []byte(object), newer)
	settings := clone(kept)
	settings["region"], settings["deployment_name"] = "here", "d"
	provider := clone(kept)
	provider["provider"], provider["settings"] = "vllm", settings
	got := decodeJSON(t, hub)
	if diff := cmp.Diff(tree{"providers": tree{"inference": provider}}, at(got, "spec")); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(decodeJSON(t, []byte(object)), decodeJSON(t, convertBytes(t, hub, older))); diff != "" {
		t.Errorf("the round trip changes the object (-before +after):\n%s", diff)
	}
}

// respelt returns an object with the given version and the kind of a stack. All other fields keep their JSON text,
// apart from white space and the order of the fields.
func respelt(t *testing.T, data []byte, apiVersion string) []byte {
	t.Helper()
	var fields map[string]json.RawMessage
	testutil.Must(t, json.Unmarshal(data, &fields))
	fields["apiVersion"], fields["kind"] = json.RawMessage(`"`+apiVersion+`"`), json.RawMessage(`"`+v1alpha1.Kind+`"`)
	return encodePlain(t, fields)
}

// encodePlain writes JSON without HTML escapes, as conversion does for strings that it writes itself.
func encodePlain(t *testing.T, value any) []byte {
	t.Helper()
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	testutil.Must(t, encoder.Encode(value))
	return bytes.TrimSpace(b.Bytes())
}

// Conversion returns an error, and no output, for input that is not a LlamaStackDistribution of a known version with
// metadata.
func TestBytesOfSomethingElse(t *testing.T) {
	for object, want := range map[string]string{
		``:                                 "it is not JSON",
		`{`:                                "it is not JSON",
		"\xff":                             "it is not JSON",
		`[]`:                               "it is not a JSON object",
		`"x"`:                              "it is not a JSON object",
		`{}`:                               "kind null cannot be converted",
		`{"kind":[]}`:                      "kind [] cannot be converted",
		`{"kind":"Pod","apiVersion":"v1"}`: `kind "Pod" cannot be converted`,
		`{"kind":"LlamaStackDistribution","apiVersion":"llamastack.io/v1"}`:             `unknown apiVersion "llamastack.io/v1"`,
		`{"kind":"LlamaStackDistribution"}`:                                             "unknown apiVersion null",
		`{"kind":"LlamaStackDistribution","apiVersion":"llamastack.io/v1alpha2"}`:       "metadata is missing",
		`{"kind":"LlamaStackDistribution","apiVersion":"` + newer + `","metadata":"x"}`: "metadata is missing or not an object",
	} {
		for _, to := range convert.Versions {
			if got, err := convert.AppendJSON([]byte("a"), []byte(object), to); err == nil || !strings.Contains(err.Error(), want) || string(got) != "a" {
				t.Errorf("%s: %q, error %v; want %q", object, got, err, want)
			}
		}
	}
}

// Conversion never adds so much data that the annotations exceed the API server's limit. The API server would reject an
// object with larger annotations, and every list that contains the object.
func TestRoomOfAnnotations(t *testing.T) {
	const limit = 256 << 10
	sizeOf := func(object tree) int {
		total := 0
		for key, value := range at(object, "metadata", "annotations") {
			total += len(key) + len(value.(string))
		}
		return total
	}
	full := func(t *testing.T, text string) tree {
		t.Helper()
		object := decodeYAML(t, []byte(text))
		annotations := at(object, "metadata", "annotations")
		annotations["kubectl.kubernetes.io/last-applied-configuration"] = strings.Repeat("ü<", (limit-sizeOf(object)-48)/3)
		return object
	}
	for name, text := range map[string]string{"v1alpha1": olderDemo, "v1alpha2": hubDemo} {
		t.Run(name+" with annotations at the limit", func(t *testing.T) {
			object := full(t, text)
			other, _ := convertAndBack(object)
			got := at(other, "metadata", "annotations")
			if sizeOf(object) < limit-3 || sizeOf(other) > limit || got["mine"] != "b" || len(got) != 2 {
				t.Errorf("annotations of %d bytes became %d bytes in %d annotations", sizeOf(object), sizeOf(other), len(got))
			}
		})
	}
	t.Run("as many annotations as fit into a review", func(t *testing.T) { // it takes minutes if each is looked at again
		object := decodeYAML(t, []byte(hubDemo))
		for i := range 100_000 {
			at(object, "metadata", "annotations")[fmt.Sprintf("key-%05d", i)] = "text"
		}
		got := at(convert.FromHub(object), "metadata", "annotations")
		_, first := got["key-00000"]
		_, last := got["key-99999"]
		if size := sizeOf(tree{"metadata": tree{"annotations": got}}); size > limit || size < limit-100 || first || !last {
			t.Errorf("%d annotations with %d bytes are left, with the first: %t, and the last: %t", len(got), size, first, last)
		}
	})
	hub := decodeYAML(t, []byte(hubDemo))
	delete(at(hub, "spec"), "overrideConfig")
	at(hub, "spec")["settings"] = tree{"a": strings.Repeat("x", limit)}
	for name, add := range map[string]func(){
		"a setting of 256 KiB": func() {},
		"unknown fields": func() {
			delete(at(hub, "spec"), "settings")
			for i := range 20_000 {
				at(hub, "spec")[fmt.Sprintf("unknown%d", i)] = true
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			add()
			read := convert.FromHub(hub)
			if got := at(read, "metadata", "annotations")[conversionData]; got != `{"born":"v1alpha2","omitted":true}` {
				t.Errorf("read as v1alpha1: %.80v", got)
			}
			back := convert.ToHub(read)
			if !errors.Is(convert.DataProblem(read), convert.ErrOmitted) ||
				!errors.Is(convert.DataProblem(back), convert.ErrOmitted) ||
				convert.DataProblem(hub) != nil {
				t.Error("the loss is not reported")
			}
			if got := at(back, "metadata", "annotations")[conversionData]; got != `{"omitted":true}` {
				t.Errorf("written back: %.80v", got)
			}
			if _, marked := at(back, "metadata", "annotations")["llamastack.io/compat"]; marked {
				t.Error("after it is written back, the object is marked as created as v1alpha1")
			}
		})
	}
}
