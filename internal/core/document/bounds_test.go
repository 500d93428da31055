package document_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
)

// A text that would take much memory or time is not decoded.
func TestBounds(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"many values in JSON": {`{"a":[` + strings.Repeat("0,", 3_000_000) + `0]}`, "has too many values"},
		"many values in YAML": {"a: [" + strings.Repeat("0,", 3_000_000) + "0]\n", "has too many values"},
		"many lines in YAML":  {"a:\n" + strings.Repeat("- 0\n", 500_000), "has too many values"},
		"many nested lists":   {"a:\n" + strings.Repeat("- ", 500_000) + "0\n", "has too many values"},
		"many values in alias": {
			"a: &a [" + strings.Repeat("0,", 1000) + "0]\nb: [" + strings.Repeat("*a,", 1000) + "0]\n",
			"after its aliases are expanded",
		},
		"many documents": {strings.Repeat("a: b\n---\n", 30_000), "has more than 20000 documents"},
		"large":          {"a: " + strings.Repeat("x", document.MaxBytes), "is larger than 8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			found := document.Parse("a.yaml", []byte(c.text), false)
			if len(found) != 1 || !strings.Contains(found[0].Problem, c.want) || found[0].Data != nil {
				t.Fatalf("%d documents: %.300q", len(found), found[0].Problem)
			}
			if at := found[0].ProblemPosition(); at.Line != 1 {
				t.Errorf("the problem is on line %d", at.Line)
			}
		})
	}
}

// The message about many duplicate keys is bounded.
func TestManyDuplicates(t *testing.T) {
	found := document.Parse("a.yaml", []byte("kind: A\n"+strings.Repeat("a: b\n", 1000)), false)
	if problem := found[0].Problem; len(problem) > 2000 || !strings.Contains(problem, "and 979 more") {
		t.Errorf("%.200s (%d bytes)", problem, len(problem))
	}
}
