package golden_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

func TestDiff(t *testing.T) {
	for name, tc := range map[string]struct{ base, text, want string }{
		"equal":     {"a\nb\n", "a\nb\n", ""},
		"changed":   {"a\nb\nc\nd\n", "a\nx\nc\nd\n", " a\n-b\n+x\n c\n"},
		"added":     {"a\n", "a\nb\n", " a\n+b\n"},
		"removed":   {"a\nb\n", "b\n", "-a\n b\n"},
		"two":       {"a\nb\nc\nd\ne\n", "x\nb\nc\nd\ny\n", "-a\n+x\n b\n...\n d\n-e\n+y\n"},
		"neighbors": {"a\nb\nc\n", "x\nb\ny\n", "-a\n+x\n b\n-c\n+y\n"},
		"below keys": {
			"a:\n  b:\n  - c: 1\n    d: 1\n    e: 1\n  f: 1\n", "a:\n  b:\n  - c: 1\n    d: 1\n    e: 2\n  f: 1\n",
			"... a: b: - c: 1\n     d: 1\n-    e: 1\n+    e: 2\n   f: 1\n",
		},
		"from none": {"", "a\n", "+a\n"},
		"another order": {
			"a\nb\nc\nd\n", "c\na\nb\nd\n", "+c\n a\n b\n-c\n d\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, string(golden.Diff([]byte(tc.base), []byte(tc.text)))); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}
