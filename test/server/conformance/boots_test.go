//go:build server

package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// TestBoots checks that the server of a release starts with the stacks in ../shared/cases/boots that the operator
// accepts. Real servers once did not start with them, or with stacks like them. TestNegative proves the rejections.
func TestBoots(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(testutil.Root(), "../shared/cases/boots/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("this is a checkout without ../shared")
	}
	eachLine(t, realserver.Releases, func(t *testing.T, rel *release.Release, checker *realserver.Checker) {
		started, failed := 0, 0
		for _, file := range files {
			c := bootCase(t, rel, file)
			if c == nil {
				continue
			}
			answer, ok := bootAnswer(t, c, checker)
			t.Logf("boots %s: %s: %s", rel.Line, c.Name, answer)
			if ok {
				started++
			} else {
				failed++
				t.Errorf("%s: the server of %s does not start: %s", c.Name, rel.Version, answer)
			}
		}
		count(t, "initialize", started, started+failed)
	})
}

// bootCase returns the stack in a file, or nil if the file has none for the release line, or none of v1alpha2.
func bootCase(t *testing.T, rel *release.Release, file string) *corpus.Case {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "apiVersion: llamastack.io/v1alpha2") {
		return nil
	}
	c, err := corpus.FromManifest(rel, strings.TrimSuffix(filepath.Base(file), ".yaml"), data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// bootAnswer returns the answer of the operator if it rejects a stack, and otherwise the answer of the server. It
// returns false if the server does not start with a stack that the operator accepts.
func bootAnswer(t *testing.T, c *corpus.Case, checker *realserver.Checker) (answer string, ok bool) {
	t.Helper()
	outcome, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	if outcome.Refused != "" {
		return "rejected: " + outcome.Refused, true
	}
	if reason := needsMore(outcome.Config, outcome.Env); reason != "" {
		return "not started: " + reason, true
	}
	verdict, err := checker.Check(t.Context(), realserver.Request{
		Tier: realserver.Initialize, Config: string(outcome.Config), Env: outcome.Env,
		Local: true, Models: corpus.Models(outcome.Config), Seconds: startSeconds,
	})
	if err != nil {
		t.Fatal(err)
	}
	if verdict.Missing != "" {
		return "not started: it needs the package " + verdict.Missing, true
	}
	if verdict.OK {
		keep(t, checker, verdict)
	}
	return verdict.String(), verdict.OK
}
