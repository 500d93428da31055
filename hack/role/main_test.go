package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNamespaced(t *testing.T) {
	for _, test := range []struct{ name, in, want, err string }{
		{
			name: "rules for namespaced resources stay unchanged",
			in: `
kind: ClusterRole
metadata: {name: manager}
rules:
- {apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get]}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [list]}
- {apiGroups: [x], resources: [customresourcedefinitions, z], verbs: [list]}
- {apiGroups: [llamastack.io], resources: [llamastackdistributions], verbs: [list, patch]}
`,
			want: `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: manager
rules:
- apiGroups:
  - ""
  resourceNames:
  - a
  resources:
  - secrets
  verbs:
  - get
- apiGroups:
  - x
  resources:
  - z
  verbs:
  - list
- apiGroups:
  - llamastack.io
  resources:
  - llamastackdistributions
  verbs:
  - list
`,
		},
		{name: "no rule for namespaced resources", in: "metadata: {name: empty}", err: `ClusterRole "empty" has no rule for namespaced resources`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := namespaced([]byte(test.in))
			if message := errorText(err); message != test.err {
				t.Errorf("error %q, want %q", message, test.err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("Role (-want +got):\n%s", diff)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
