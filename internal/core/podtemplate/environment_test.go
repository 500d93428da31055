package podtemplate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// patchOf returns a pod template, or a patch for a pod template, whose container "server" has these variables.
func patchOf(env []any) map[string]any {
	container := map[string]any{"name": "server", "env": env}
	return map[string]any{"spec": map[string]any{"containers": []any{container}}}
}

func merged(t *testing.T, before, changes map[string]any) map[string]any {
	t.Helper()
	after, err := strategicpatch.StrategicMergeMapPatch(before, changes, corev1.PodTemplateSpec{})
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// TestSetAside checks that, for any patch, the variables that are set aside and put back have the same positions as
// after a merge of all variables.
func TestSetAside(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		count, first := random.IntN(12), random.Perm(20)
		before := func() []any {
			var env []any
			for _, i := range first[:count] {
				env = append(env, map[string]any{"name": fmt.Sprint("V", i), "value": "old"})
			}
			return env
		}
		var drawn []int
		for range 1 + random.IntN(8) {
			drawn = append(drawn, random.IntN(80))
		}
		patch := func() []any {
			var env []any
			for _, i := range drawn {
				variable := map[string]any{"name": fmt.Sprint("V", i%20), "value": fmt.Sprint(i)}
				if i >= 60 {
					variable = map[string]any{"name": fmt.Sprint("V", i%20), "$patch": "delete"}
				}
				env = append(env, variable)
			}
			return env
		}
		want := merged(t, patchOf(before()), patchOf(patch()))

		template, changes := patchOf(before()), patchOf(patch())
		aside := setAside(template, changes, "server")
		got := merged(t, template, changes)
		aside.putBack(got)
		if diff := cmp.Diff(items(want, "spec", "containers"), items(got, "spec", "containers")); diff != "" {
			t.Fatalf("%v patched by %v (-merge +set aside):\n%s", before(), patch(), diff)
		}
	}
}

// TestNothingSetAside checks that no variable is set aside if the patch names no variable, or does more than set and
// remove variables.
func TestNothingSetAside(t *testing.T) {
	variable := map[string]any{"name": "A", "value": "1"}
	for name, changes := range map[string]map[string]any{
		"an empty patch":            {},
		"no variables":              patchOf(nil),
		"the list is replaced":      patchOf([]any{map[string]any{"$patch": "replace"}, variable}),
		"a variable without a name": patchOf([]any{map[string]any{"value": "1"}}),
		"the order of the variables is set": {"spec": map[string]any{"containers": []any{
			map[string]any{"name": "server", "env": []any{variable}, "$setElementOrder/env": []any{variable}},
		}}},
		"two patches of the server's container": {"spec": map[string]any{"containers": []any{
			map[string]any{"name": "server", "env": []any{variable}}, map[string]any{"name": "server"},
		}}},
		"the containers are replaced": {"spec": map[string]any{"containers": []any{map[string]any{"$patch": "replace"}}}},
	} {
		template := patchOf([]any{map[string]any{"name": "A"}, map[string]any{"name": "B"}})
		if aside := setAside(template, changes, "server"); aside.before != nil {
			t.Errorf("%s: a variable is set aside", name)
		}
		if diff := cmp.Diff(patchOf([]any{map[string]any{"name": "A"}, map[string]any{"name": "B"}}), template); diff != "" {
			t.Errorf("%s: the template changed:\n%s", name, diff)
		}
	}
}
