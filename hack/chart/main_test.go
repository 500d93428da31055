package main

import "testing"

const roleManifests = `
# of all
kind: ClusterRole
metadata: {name: a}
rules:
- {apiGroups: [x], verbs: [get]} # why

- text: >-
    folded
      more
---
kind: ClusterRoleBinding
metadata: {name: b}
---
metadata:
  name: d
rules: [] # of another document
other: 1
`

func TestTake(t *testing.T) {
	for _, test := range []struct{ name, object, want, err string }{
		{name: "with comments and line breaks", object: "a", want: "rules:\n- {apiGroups: [x], verbs: [get]} # why\n\n- text: >-\n    folded\n      more\n"},
		{name: "up to the next key", object: "d", want: "rules: [] # of another document\n"},
		{name: "another kind", object: "b", err: `object "b" has no rules`},
		{name: "no such object", object: "c", err: `there is no object "c"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := take([]byte(roleManifests), test.object, "rules")
			if test.err != "" && (err == nil || err.Error() != test.err) {
				t.Errorf("error %v, want %s", err, test.err)
			}
			if string(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
