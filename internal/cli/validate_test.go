package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// several is a file with two documents. The second document has two mistakes.
const several = `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
# the stack
apiVersion: llamastack.io/v1alpha2
kind: LlamaStackDistribution
metadata: {name: demo, labels: {team: a}}
spec:
  distribution: {name: starter}
  providers:
    inference:
      provider: vllm
      endpont: http://vllm:8000
  networking: {port: eighty}
`

// validateJSON returns the report of validate -o json.
func validateJSON(t *testing.T, code int, stdin string, args ...string) findings.Report {
	t.Helper()
	got := run(t, stdin, append([]string{"validate", "-o", "json"}, args...)...)
	got.mustExit(t, code)
	var report findings.Report
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v\n%s", err, got.out)
	}
	return report
}

// places returns the file, the position, the path and the origin of each error.
func places(report findings.Report) []findings.Finding {
	var list []findings.Finding
	for _, f := range report.Findings {
		if f.Level == findings.Error {
			list = append(list, findings.Finding{
				File: filepath.Base(f.File), Line: f.Line, Column: f.Column, Path: f.Path,
				Origin: f.Origin,
			})
		}
	}
	return list
}

func TestValidatePositions(t *testing.T) {
	folder := write(t, map[string]string{"stack.yaml": several})
	file := filepath.Join(folder, "stack.yaml")
	report := validateJSON(t, 1, "", "-f", file)
	want := []findings.Finding{
		{File: "stack.yaml", Line: 15, Column: 16, Path: "spec.networking.port"},
		{File: "stack.yaml", Line: 14, Column: 7, Path: "spec.providers.inference.endpont"},
	}
	if diff := cmp.Diff(want, places(report)); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]findings.Object{{File: file, Stack: "demo", Namespace: "default"}}, report.Stacks); diff != "" ||
		report.Invalid != 1 {
		t.Errorf("%d invalid, stacks (-want +got):\n%s", report.Invalid, diff)
	}
	contains(t, run(t, "", "validate", "-f", file).err, "error: "+file+":15:16: demo: spec.networking.port: must be a whole number")
	contains(t, run(t, "", "validate", "-f", file, "-o", "github").out,
		"::error file="+file+",line=14,col=7,title=manifest-invalid::demo: spec.providers.inference.endpont: unknown field")
	contains(t, run(t, "", "validate", "-f", file, "-o", "sarif").out, `"version": "2.1.0"`, `"startLine": 14`)
}

// For a document that is not from a file, a finding contains an origin instead of a file and a line.
// A second stack with the same name is a warning, because kubectl apply accepts both.
func TestValidateTwoStacksOfOneName(t *testing.T) {
	const one = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: demo}\nspec: {distribution: {name: starter}}\n"
	const older = "---\napiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: demo, namespace: %s}\nspec: {server: {distribution: {name: starter}}}\n"
	for name, tc := range map[string]struct {
		second string
		want   bool
	}{
		"the same version":     {"---\n" + one, true},
		"the older version":    {fmt.Sprintf(older, "default"), true},
		"in another namespace": {fmt.Sprintf(older, "other"), false},
		"another name":         {"---\n" + strings.Replace(one, "demo", "second", 1), false},
	} {
		got := run(t, "", "validate", "-f", filepath.Join(write(t, map[string]string{"stack.yaml": one + tc.second}), "stack.yaml"))
		const warning = `metadata.name: "demo": `
		if got.code != 0 || strings.Contains(got.err, warning) != tc.want {
			t.Errorf("%s: exit code %d\n%s", name, got.code, got.err)
		}
	}
}

func TestValidateGenerated(t *testing.T) {
	helm := "---\n# Source: chart/templates/stack.yaml\n" + stack("{distribution: {name: startr}}") + "---\n# Source: chart/templates/notes.yaml\n"
	for name, tc := range map[string]struct {
		text string
		want findings.Finding
	}{
		"standard input": {
			stack("{distribution: {name: startr}}"),
			findings.Finding{File: ".", Path: "spec.distribution.name", Origin: "standard input"},
		},
		"Helm": {helm, findings.Finding{File: ".", Path: "spec.distribution.name", Origin: "Helm template chart/templates/stack.yaml"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]findings.Finding{tc.want}, places(validateJSON(t, 1, tc.text, "-f", "-"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			github := run(t, tc.text, "validate", "-f", "-", "-o", "github").out
			if strings.Contains(github, "file=") {
				t.Errorf("an annotation contains a file: %s", github)
			}
			contains(t, github, "("+tc.want.Origin+", document 1)")
		})
	}
}

// An unreadable file causes an error with a line number, and does not prevent the validation of the other files.
func TestValidateBrokenFile(t *testing.T) {
	folder := write(t, map[string]string{
		"a.yaml": stack(simple),
		"b.yaml": "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nspec:\n  a: [\n",
		"c.yaml": strings.Replace(stack(simple), "demo", "other", 1) + "--- !tag\nkind: A\n",
	})
	for _, args := range [][]string{
		{"-f", folder}, {
			"-f", filepath.Join(folder, "a.yaml"), "-f", filepath.Join(folder, "b.yaml"), "-f",
			filepath.Join(folder, "c.yaml"),
		},
	} {
		got := run(t, "", append([]string{"validate"}, args...)...)
		got.exits(t, 1)
		contains(t, got.err, "ok: "+filepath.Join(folder, "a.yaml")+": demo",
			"ok: "+filepath.Join(folder, "c.yaml")+": other",
			"error: "+filepath.Join(folder, "b.yaml")+":4:1: is not valid YAML: line 4: ", "is not YAML: line 5: only a comment can follow --- at the beginning of a document")
	}
}

// The JSON output is complete even if no stack can be read.
func TestValidateNothing(t *testing.T) {
	report := validateJSON(t, 1, "kind: A\n", "-f", "-")
	if len(report.Findings) != 1 || report.Findings[0].Message != "no LlamaStackDistribution in standard input; found only A" {
		t.Errorf("got %+v", report)
	}
	got := run(t, "", "validate", "-f", "-", "-o", "sarf")
	got.exits(t, 2)
	contains(t, got.err, `--output: "sarf" is not a valid value; use one of text, json, sarif, github; did you mean "sarif"?`)
	got = run(t, "", "validate", "-f", samples, "--as", "alice")
	contains(t, got.err, "--as: the command connects to a cluster only with --dry-run=server; set --dry-run=server, or remove --as")
}

func TestSelector(t *testing.T) {
	two := several + "---\n" + strings.Replace(stack(simple), "name: demo", "name: other, labels: {team: b}", 1)
	for _, tc := range []struct {
		selector, want string
		code           int
	}{
		{"team=b", "ok: standard input: other", 0},
		{"team!=b", "invalid stacks: 1 of 1", 1},
		{"team", "invalid stacks: 1 of 2", 1},
		{"team=c", `--selector "team=c": no stack in the files matches the selector`, 1},
		{"a in (", `--selector "a in (": `, 2},
	} {
		got := run(t, two, "validate", "-f", "-", "-l", tc.selector)
		got.exits(t, tc.code, tc.selector)
		contains(t, got.err, tc.want)
	}
}

// fakeKubectl adds to the PATH a kubectl that runs the given script.
func fakeKubectl(t *testing.T, script string) {
	t.Helper()
	folder := t.TempDir()
	testutil.Must(t, os.WriteFile(filepath.Join(folder, "kubectl"), []byte("#!/bin/sh\n"+script), 0o700))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestKustomize(t *testing.T) {
	folder := write(t, map[string]string{
		"kustomization.yaml": stack(simple),
		"wrong.yaml":         stack("{distribution: {name: startr}}"),
	})
	fakeKubectl(t, `[ "$1" = kustomize ] && cat "$2/kustomization.yaml"`)
	for verb, more := range map[string][]string{
		"validate": nil, "render": {"-o", "config"}, "upgrade-check": {"--to", "0.8"}, "convert": {"--to", "v1alpha1"},
	} {
		got := run(t, "", append([]string{verb, "-k", folder}, more...)...)
		got.exits(t, 0, verb)
	}
	report := validateJSON(t, 1, "", "-k", folder, "-f", filepath.Join(folder, "wrong.yaml"))
	if report.Stacks[0].File == "" || report.Stacks[1].File != "" || report.Stacks[1].Origin != "kustomize "+folder ||
		!report.Stacks[1].Valid {
		t.Errorf("stacks %+v", report.Stacks)
	}
}

func TestKustomizeRefuses(t *testing.T) {
	folder := t.TempDir()
	missing := run(t, "", "validate", "-k", filepath.Join(folder, "none"))
	missing.exits(t, 2, "missing folder")
	contains(t, missing.err, "--kustomize: ", "is not a folder; use a folder that contains a kustomization.yaml")

	for _, printed := range []string{ // kubectl, kustomize, and a kubectl that logs its errors print these messages
		"error: unable to find \"a\"", "Error: unable to find \"a\"",
		`E1126 09:42:16.290757    3106 run.go:72] "command failed" err="unable to find \"a\""`,
	} {
		fakeKubectl(t, "echo '"+printed+"' >&2; exit 1")
		failed := run(t, "", "validate", "-k", folder)
		failed.exits(t, 1, "a build that fails")
		contains(t, failed.err, "error: kustomize "+folder+": unable to find \"a\"\n", "the kustomization cannot be built")
	}

	t.Setenv("PATH", folder)
	none := run(t, "", "validate", "-k", folder)
	none.exits(t, 2, "no kubectl")
	contains(t, none.err, "--kustomize: neither kubectl nor kustomize is on the PATH")
}

// The pre-commit hook validates the files in a commit. Most of these files do not contain a stack.
func TestPreCommitHook(t *testing.T) {
	data := golden.Read(t, "../../.pre-commit-hooks.yaml")
	var hooks []struct{ ID, Name, Description, Entry, Language, Exclude string }
	if err := yaml.Unmarshal(data, &hooks); err != nil || len(hooks) != 1 {
		t.Fatalf("%d hooks, %v", len(hooks), err)
	}
	entry := strings.Fields(hooks[0].Entry)
	if entry[0] != "kubectl-llamastack" || hooks[0].Language == "" || hooks[0].Name == "" {
		t.Errorf("hook %+v", hooks[0])
	}
	exclude := regexp.MustCompile(hooks[0].Exclude)
	if !exclude.MatchString("charts/a/templates/stack.yaml") || exclude.MatchString("deploy/mytemplates/stack.yaml") {
		t.Errorf("exclude %q", hooks[0].Exclude)
	}
	folder := write(t, map[string]string{
		"chart.yaml": "name: {{ .Values.name }}\n", "other.yaml": "- a\n", "good.yaml": stack(simple), "bad.yaml": several,
	})
	for _, tc := range []struct {
		files []string
		code  int
	}{
		{[]string{"chart.yaml", "other.yaml"}, 0},
		{[]string{"chart.yaml", "good.yaml"}, 0},
		{[]string{"good.yaml", "other.yaml", "bad.yaml"}, 1},
	} {
		args := slices.Clone(entry[1:])
		for _, file := range tc.files {
			args = append(args, filepath.Join(folder, file))
		}
		run(t, "", args...).exits(t, tc.code, tc.files)
	}
}
