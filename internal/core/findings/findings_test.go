package findings_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][2]string{
		`spec.networkin: unknown field`:                          {"spec.networkin", "unknown field"},
		`kind: "X" is not a kind`:                                {"kind", `"X" is not a kind`},
		`metadata.annotations[a: b]: is wrong`:                   {"metadata.annotations[a: b]", "is wrong"},
		`spec.distribution: the image "a: b"`:                    {"spec.distribution", `the image "a: b"`},
		`is no YAML: line 3: bad`:                                {"", "is no YAML: line 3: bad"},
		`the stack in --previous: spec.x: y`:                     {"", "the stack in --previous: spec.x: y"},
		`specification: is a word`:                               {"", "specification: is a word"},
		`line 6: key "distribution" already set in map; keep it`: {"", `line 6: key "distribution" already set in map; keep it`},
	} {
		path, message := findings.Split(text)
		if path != want[0] || message != want[1] {
			t.Errorf("%q: got %q and %q", text, path, message)
		}
	}
}

var report = findings.Report{
	Invalid: 1,
	Stacks:  []findings.Object{{File: "a b/s,1:x.yaml", Stack: "demo", Namespace: "default"}},
	Findings: []findings.Finding{
		{
			Level: findings.Error, Rule: findings.RuleInvalid, File: "a b/s,1:x.yaml", Line: 3, Column: 5, Stack: "demo",
			Namespace: "default",
			Path:      "spec.a", Message: "is 100% wrong,\r\nsee: <docs>",
		},
		{
			Level: findings.Warning, Rule: findings.RuleData, Origin: "standard input", Document: "document 2", Stack: "demo",
			Path: "spec.b", Message: "leaves data",
		},
		{Level: findings.Note, Rule: findings.RuleNote, File: "/abs/x.yaml", Message: "nothing else"},
	},
}

func write(t *testing.T, form string) string {
	t.Helper()
	var page bytes.Buffer
	if err := report.Write(&page, form, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// TestForms checks the text of the forms that other programs read: commands of GitHub, and SARIF 2.1.0.
func TestForms(t *testing.T) {
	golden.Dir(t, "testdata", map[string][]byte{
		"github.txt":   []byte(write(t, findings.FormGitHub)),
		"report.sarif": []byte(write(t, findings.FormSARIF)),
	})
}

func TestJSON(t *testing.T) {
	var got findings.Report
	if err := json.Unmarshal([]byte(write(t, findings.FormJSON)), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}
