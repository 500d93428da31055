package webhook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/definition"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// cases are folders with manifests of typical mistakes, and of stacks whose objects an API server rejects.
var cases = filepath.Join(testutil.Root(), "../shared/cases")

// TestCases writes a table with the answers to each manifest: that of the command line, with its first message, and
// that of kubectl. The command line accepts no stack that kubectl rejects.
func TestCases(t *testing.T) {
	c := startCluster(t)
	c.Install(t)
	for _, o := range c.startReplicas(t) {
		testutil.Within(t, patience, func() error { return validates(o) })
	}
	var table bytes.Buffer
	table.WriteString("# Answers to the cases\n\n| case | validate | kubectl | first message of validate |\n|---|---|---|---|\n")
	for _, folder := range []string{"children", "mistakes"} {
		files, err := filepath.Glob(filepath.Join(cases, folder, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no cases in %s: %v", folder, err)
		}
		for _, file := range files {
			c.answerTo(t, file, &table)
		}
	}
	golden.Dir(t, "testdata/cases/want", map[string][]byte{"answers.md": table.Bytes()})
}

// answerTo adds a row for a file to the table.
func (c *cluster) answerTo(t *testing.T, file string, table *bytes.Buffer) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".yaml")
	found := dryrun.Gather(document.Parse("stack.yaml", data, false), "default")
	found.Definition, found.NotesUnknown = definition.Check, true
	answer, message, valid := "ok", "", true
	for i := range found.Stacks {
		outcome := found.Plan(found.Stacks[i])
		list, ok := dryrun.Reported(&found.Stacks[i], &outcome, false)
		valid = valid && ok
		for _, level := range []string{findings.Error, findings.Warning} {
			at := slices.IndexFunc(list, func(f findings.Finding) bool { return f.Level == level })
			if at >= 0 && message == "" {
				answer, message = level, list[at].Text()
			}
		}
	}
	_, err = c.Kubectl(t, "apply", "--dry-run=server", "--validate=strict", "-f", file)
	kubectl := "accepts"
	if err != nil {
		kubectl = "rejects"
	}
	if len(found.Stacks) == 0 {
		answer = "no stack"
	} else if err != nil && valid {
		t.Errorf("%s: the command line accepts the stack, and kubectl does not: %v", name, err)
	}
	message = strings.ReplaceAll(strings.ToValidUTF8(message, "?"), "|", `\|`)
	if len(message) > 160 {
		message = strings.ToValidUTF8(message[:160], "") + "…"
	}
	fmt.Fprintf(table, "| %s | %s | %s | %s |\n", name, answer, kubectl, strings.ReplaceAll(message, "\n", " "))
}
