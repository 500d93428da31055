package render_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

func TestStorageSecretFollowsTheConfigMaps(t *testing.T) {
	in := readInput(t, filepath.Join("testdata", "generated-config", "in.yaml"))
	in.Base.ConfigMapName = "demo-base-ba5eba5e"
	objects, err := render.Objects(in)
	if err != nil {
		t.Fatal(err)
	}
	secret := render.StorageSecret(in, map[string][]byte{"sql-password": []byte("hunter2")})
	with := render.InsertSecret(objects, secret)
	var kinds []string
	for _, object := range with {
		kinds = append(kinds, object.GVK.Kind)
	}
	want := []string{"ConfigMap", "ConfigMap", "Secret", "ServiceAccount", "Deployment", "Service"}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if len(objects) != len(with)-1 {
		t.Errorf("the input changed: it has %d objects", len(objects))
	}
	if alone := render.InsertSecret(objects[:2], secret); len(alone) != 3 || alone[2].GVK.Kind != "Secret" {
		t.Errorf("after ConfigMaps alone: got %v", alone)
	}
	sent, err := render.Unstructured(secret)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := unstructured.NestedString(sent.Object, "data", "sql-password")
	if err != nil || value != "aHVudGVyMg==" || sent.GetName() != "demo-storage" || sent.Object["type"] != "Opaque" {
		t.Errorf("Secret is %v, error %v", sent.Object, err)
	}
	if len(sent.GetOwnerReferences()) != 1 {
		t.Error("the Secret has no owner")
	}
}

func TestTooLarge(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*render.Input)
		want   string
	}{
		"base": {
			func(in *render.Input) { in.Base.Data = make([]byte, render.MaxBase+1) },
			"the base configuration has 786433 bytes, but the limit is 786432 bytes; remove comments or unused sections from the base configuration",
		},
		"generated": {
			func(in *render.Input) { in.Config.Data = make([]byte, render.MaxConfig+1) },
			"the generated configuration has 1032193 bytes, but the limit is 1032192 bytes; " +
				"remove providers, resources or settings from the spec, or use a smaller base configuration",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, filepath.Join("testdata", "generated-config", "in.yaml"))
			tc.change(&in)
			_, err := render.Objects(in)
			var tooLarge *render.TooLargeError
			if !errors.As(err, &tooLarge) || err.Error() != tc.want {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	in := readInput(t, filepath.Join("testdata", "generated-config", "in.yaml"))
	in.Base.ConfigMapName = "demo-base-ba5eba5e"
	in.Base.Data, in.Config.Data = make([]byte, render.MaxBase), make([]byte, render.MaxConfig)
	if _, err := render.Objects(in); err != nil {
		t.Errorf("configurations at the limits are rejected: %v", err)
	}
}

// Kinds lists every kind that render creates, and PrunedKinds lists every such kind except the claim. If Kinds omitted
// a kind, the operator would not delete the objects of this kind. If PrunedKinds contained the claim, the operator
// would delete the stack's data.
func TestKindsCoverEveryObject(t *testing.T) {
	seen := make(map[schema.GroupVersionKind]bool)
	for _, name := range golden.Cases(t, "testdata") {
		in := readInput(t, filepath.Join("testdata", name, "in.yaml"))
		objects, err := render.Objects(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range append(objects, render.StorageSecret(in, nil)) {
			seen[object.GVK] = true
		}
	}
	for _, child := range render.ChildKinds() {
		kind := child.GroupVersionKind
		if !seen[kind] {
			t.Errorf("no case renders a %s", kind.Kind)
		}
		delete(seen, kind)
		pruned := slices.Contains(render.PrunedKinds(), kind)
		if pruned == (kind.Kind == "PersistentVolumeClaim") {
			t.Errorf("%s: pruned %v", kind.Kind, pruned)
		}
	}
	if len(seen) > 0 {
		t.Errorf("kinds that Kinds does not list: %v", seen)
	}
}

func TestUnstructuredIsACopy(t *testing.T) {
	in := readInput(t, filepath.Join("testdata", "storage", "in.yaml"))
	objects, err := render.Objects(in)
	if err != nil {
		t.Fatal(err)
	}
	before := files(t, objects)
	for _, object := range objects {
		sent, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		sent.SetLabels(map[string]string{"from": "the server"})
		sent.SetName("other")
	}
	if diff := cmp.Diff(before, files(t, objects)); diff != "" {
		t.Errorf("the rendered objects changed:\n%s", diff)
	}
}
