package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/conversion"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// long contains each part of the metadata that a client can make long. The policy admits a new stack with n = most, and
// refuses one with n = more.
var long = map[string]struct {
	most, more int
	part       func(n int) string
	want       string
}{
	"labels": {
		128, 129, func(n int) string { return `"labels":` + keyed(n, `"v"`) },
		"metadata.labels: 129 entries exceed the limit of 128: remove some",
	},
	"annotations": {
		127, 129, func(n int) string { return `"annotations":` + keyed(n, `"v"`) }, // the conversion adds one
		" entries exceed the limit of 128: remove some",
	},
	"finalizers": {
		128, 129, func(n int) string {
			var all []string
			for i := range n {
				all = append(all, fmt.Sprintf("example.com/f%d", i))
			}
			return `"finalizers":["` + strings.Join(all, `","`) + `"]`
		},
		"metadata.finalizers: 129 entries exceed the limit of 128: remove some",
	},
	"owners": {
		128, 129, func(n int) string { return owners(n, "a") },
		"metadata.ownerReferences: 129 entries exceed the limit of 128: remove some",
	},
	"names of owners": {
		253, 254, func(n int) string { return owners(1, strings.Repeat("a", n)) },
		"metadata.ownerReferences: 254 characters exceed the limit of 253 for name: remove the owner",
	},
	"managers": {
		127, 129, func(n int) string { return managedFields(n, `{"f:a":{}}`) }, // the API server adds one
		" entries exceed the limit of 128: remove some",
	},
	"levels of managed fields": {
		19, 20, func(n int) string { return managedFields(1, strings.Repeat(`{"f:a":`, n)+"{}"+strings.Repeat("}", n)) },
		tooManaged,
	},
	"entries of managed fields": {
		1000, 1001, func(n int) string { return managedFields(1, strings.ReplaceAll(keyed(n, "{}"), `"k`, `"f:k`)) },
		tooManaged,
	},
	"characters of managed fields": {
		523_700, 524_288, func(n int) string { return managedFields(1, `{"f:`+strings.Repeat("a", n)+`":{}}`) },
		tooManaged,
	},
}

const tooManaged = "metadata.managedFields: must have at most 20 levels of objects, 1000 entries in each of them, and " +
	"524288 characters: remove them, and the API server sets them"

func owners(n int, name string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":"u%d"}`, name, i))
	}
	return `"ownerReferences":[` + strings.Join(all, ",") + "]"
}

// The API server does not store a stack with long metadata in either version. Without this bound, one stack with
// managed fields of 9,994 levels breaks every list of stacks, and many labels delay the watches of all namespaces.
func TestLongMetadata(t *testing.T) {
	convertWith(t, conversion.Handler(logr.Discard()))
	s := newSender(t)
	for _, name := range slices.Sorted(maps.Keys(long)) {
		tt := long[name]
		for _, version := range []string{v1alpha1.GroupVersion.Version, v1alpha2.GroupVersion.Version} {
			path := fmt.Sprintf(stacks, version) + "?dryRun=All"
			code, answer := s.send(t, http.MethodPost, path, withMetadata(version, `{"name":"long",`+tt.part(tt.most)+`}`))
			if code != http.StatusCreated {
				t.Errorf("%s %s: %d %s", version, name, code, answer)
			}
			code, answer = s.send(t, http.MethodPost, path, withMetadata(version, `{"name":"long",`+tt.part(tt.more)+`}`))
			if code != http.StatusUnprocessableEntity || !strings.Contains(answer, tt.want) {
				t.Errorf("%s %s: %d %s, want %s", version, name, code, answer, tt.want)
			}
		}
	}
}

// An update cannot make the metadata long. A stack whose metadata was long before the policy existed can be changed,
// but the metadata cannot become longer.
func TestUpdatesOfLongMetadata(t *testing.T) {
	c := newClient(t)
	for _, name := range slices.Sorted(maps.Keys(long)) {
		tt := long[name]
		t.Run(name, func(t *testing.T) {
			object := newStack("updated-metadata")
			testutil.Must(t, c.Create(t.Context(), object))
			defer remove(t, c, object)
			patch := func(text string) error {
				return c.Patch(t.Context(), object.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(text)))
			}
			defer func() {
				if err := patch(`{"metadata":{"finalizers":null}}`); err != nil {
					t.Error(err)
				}
			}()
			tooLong := `{"metadata":{` + tt.part(tt.most+600) + `}}`
			if err := patch(tooLong); err == nil || !strings.Contains(err.Error(), "metadata.") {
				t.Errorf("an update that makes it long: %v", err)
			}
			withoutPolicy(t, c, func() {
				testutil.Must(t, patch(tooLong))
			})
			if err := patch(`{"spec":{"workload":{"replicas":0}}}`); err != nil {
				t.Errorf("another change: %v", err)
			}
			if err := patch(`{"metadata":{` + tt.part(tt.most+500) + `}}`); err != nil && name != "names of owners" {
				t.Errorf("less: %v", err)
			}
			if strings.Contains(name, "managed fields") {
				return // each update can change these by itself
			}
			if err := patch(`{"metadata":{` + tt.part(tt.most+700) + `}}`); err == nil {
				t.Error("more: no error")
			}
		})
	}
}
