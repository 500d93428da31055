package golden_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

func TestChanges(t *testing.T) {
	const base = `{a: 1, b: {c: text, llamastack.io/d: x}, list: [{name: one, v: 1}, {name: two, v: 2}], plain: [x, v]}`
	for name, tc := range map[string]struct{ object, want string }{
		"equal": {base, ""},
		"values": {
			`{a: 2, b: {c: text, llamastack.io/d: z}, list: [{name: one, v: 1}, {name: two, v: 2}], plain: [x, z]}`,
			"- a: 1\n- b[llamastack.io/d]: \"x\"\n- plain[1]: \"v\"\n+ a: 2\n+ b[llamastack.io/d]: \"z\"\n+ plain[1]: \"z\"\n",
		},
		"another type": {
			`{a: "1", b: {c: text, llamastack.io/d: x}, list: [{name: one, v: 1}, {name: two, v: 2}], plain: [x, v]}`,
			"- a: 1\n+ a: \"1\"\n",
		},
		"an item at the end": {
			`{a: 1, b: {c: text, llamastack.io/d: x}, list: [{name: one, v: 1}, {name: two, v: 2}, {name: three, v: 3}], plain: [x, v]}`,
			"+ list[three].name: \"three\"\n+ list[three].v: 3\n",
		},
		"an item in front": {
			`{a: 1, b: {c: text, llamastack.io/d: x}, list: [{name: three, v: 3}, {name: one, v: 1}, {name: two, v: 2}], plain: [x, v]}`,
			"+ list: order [three one two]\n+ list[three].name: \"three\"\n+ list[three].v: 3\n",
		},
		"another order": {
			`{a: 1, b: {c: text, llamastack.io/d: x}, list: [{name: two, v: 2}, {name: one, v: 1}], plain: [x, v]}`,
			"+ list: order [two one]\n",
		},
		"removed, and empty": {
			`{a: 1, b: {}, list: [{name: two, v: 2}], plain: []}`,
			"- b.c: \"text\"\n- b[llamastack.io/d]: \"x\"\n- list[one].name: \"one\"\n- list[one].v: 1\n- plain[0]: \"x\"\n- plain[1]: \"v\"\n+ b: {}\n+ plain: []\n",
		},
		"several lines": {
			`{a: "one\ntwo\n", b: {c: text, llamastack.io/d: x}, list: [{name: one, v: 1}, {name: two, v: 2}], plain: [x, v]}`,
			"- a: 1\n+ a: |\n    one\n    two\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after map[string]any
			for text, into := range map[string]*map[string]any{base: &before, tc.object: &after} {
				if err := yaml.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			if name == "equal" {
				after = before
			}
			if diff := cmp.Diff(tc.want, string(golden.Changes(before, after))); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}
