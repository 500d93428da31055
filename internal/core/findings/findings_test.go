package findings_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
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

func TestGitHub(t *testing.T) {
	want := `::error file=a b/s%2C1%3Ax.yaml,line=3,col=5,title=manifest-invalid::demo: spec.a: is 100%25 wrong,%0D%0Asee: <docs>
::warning title=data-left-behind::demo: spec.b: leaves data (standard input, document 2)
::notice file=/abs/x.yaml,title=manifest-note::nothing else
`
	if diff := cmp.Diff(want, write(t, findings.FormGitHub)); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
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

// The test checks the properties that SARIF 2.1.0 requires, and the constraints on the optional properties in the
// output.
func TestSARIF(t *testing.T) {
	var log map[string]any
	if err := json.Unmarshal([]byte(write(t, findings.FormSARIF)), &log); err != nil {
		t.Fatal(err)
	}
	if log["version"] != "2.1.0" || !strings.HasPrefix(log["$schema"].(string), "https://") {
		t.Errorf("version %v, schema %v", log["version"], log["$schema"])
	}
	run := log["runs"].([]any)[0].(map[string]any)
	if kind := run["columnKind"]; kind != "unicodeCodePoints" {
		t.Errorf("columnKind %v", kind)
	}
	driver := run["tool"].(map[string]any)["driver"].(map[string]any)
	if driver["name"] != "kubectl-llamastack" || driver["version"] != "1.2.3" {
		t.Errorf("driver %v", driver)
	}
	var ids []string
	for _, rule := range driver["rules"].([]any) {
		ids = append(ids, rule.(map[string]any)["id"].(string))
	}
	results := run["results"].([]any)
	if len(results) != len(report.Findings) {
		t.Fatalf("%d results", len(results))
	}
	for _, value := range results {
		checkResult(t, value.(map[string]any), ids)
	}
	first := results[0].(map[string]any)["locations"].([]any)[0].(map[string]any)["physicalLocation"].(map[string]any)
	want := map[string]any{
		"artifactLocation": map[string]any{"uri": "a%20b/s,1:x.yaml"},
		"region":           map[string]any{"startLine": 3.0, "startColumn": 5.0},
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("location (-want +got):\n%s", diff)
	}
	if piped := results[1].(map[string]any)["locations"].([]any)[0].(map[string]any); piped["physicalLocation"] != nil {
		t.Errorf("standard input has a physical location: %v", piped)
	}
}

func checkResult(t *testing.T, result map[string]any, ids []string) {
	t.Helper()
	if text := result["message"].(map[string]any)["text"].(string); text == "" {
		t.Error("a result has no message")
	}
	if level := result["level"].(string); !slices.Contains([]string{"none", "note", "warning", "error"}, level) {
		t.Errorf("level %q", level)
	}
	if index := int(result["ruleIndex"].(float64)); index < 0 || index >= len(ids) || ids[index] != result["ruleId"] {
		t.Errorf("rule %v has index %d in %q", result["ruleId"], index, ids)
	}
	locations, _ := result["locations"].([]any)
	for _, location := range locations {
		physical, ok := location.(map[string]any)["physicalLocation"].(map[string]any)
		if !ok {
			continue
		}
		if physical["artifactLocation"].(map[string]any)["uri"] == "" {
			t.Error("a location has no URI")
		}
		if region, ok := physical["region"].(map[string]any); ok && region["startLine"].(float64) < 1 {
			t.Errorf("region %v", region)
		}
	}
}
