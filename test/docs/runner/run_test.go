package runner

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

func newPlace(t *testing.T) *Place {
	t.Helper()
	return &Place{
		Folder: t.TempDir(), State: t.TempDir(), Programs: t.TempDir(), Namespace: "page-x", Limit: 10 * time.Second,
	}
}

func console(commands string) string { return "```console\n" + commands + "\n```\n" }

// failures returns the lines and texts of the failures.
func failures(result Result) string {
	var all []string
	for _, failure := range result.Failures {
		all = append(all, fmt.Sprintf("%d: %s", failure.Line, failure.Text))
	}
	return strings.Join(all, "\n")
}

func TestRun(t *testing.T) {
	const files = "```yaml title=\"a/b.yaml\"\nx: y\n```\n"
	const node = "<!-- docs-test: node -->\n"
	for name, test := range map[string]struct {
		page, want string
		ran        int
	}{
		"outputs": {console("$ echo a; echo b >&2\na\nb\n$ echo c\n$ false # exit code 1"), "", 3},
		"files":   {files + console("$ cat a/b.yaml\nx: y"), "", 1},
		"variables and folder": {
			console("$ A=1\n$ B=\"a 'b'\"\n$ echo \"$A $B\" | cat\n1 a 'b'\n$ mkdir d; cd d\n$ pwd\n/home/you/d"),
			"", 5,
		},
		"another output":          {console("$ echo a\nb\n$ echo c"), "2: $ echo a\n--- the page shows\nb\n--- the command printed\na", 2},
		"a failure ends the page": {console("$ exit 3\n$ echo c"), "2: $ exit 3\nexit code 3, want 0", 1},
		"an unexpected success":   {console("$ true # exit code 1"), "2: $ true\nexit code 0, want 1", 1},
		"an unset variable":       {console("$ echo $MISSING"), "2: $ echo $MISSING\nexit code 1, want 0", 1},
		"a failure in a pipe":     {console("$ false | cat"), "2: $ false | cat\nexit code 1, want 0", 1},
		"node blocks do not run":  {node + console("$ false") + "\n" + console("$ true"), "", 1},
		"the namespace":           {console("$ echo $HOME/page-x.svc\n/home/you/default.svc"), "", 1},
		"hidden commands":         {"<!-- docs-test: setup\nA=1\n-->\n" + console("$ echo $A\n1"), "", 1},
		"a hidden command fails": {
			"<!-- docs-test: setup\nfalse\n-->\n" + console("$ true"),
			"2: $ false\nexit code 1, want 0", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			result := newPlace(t).Run(t.Context(), script.Parse(test.page))
			got := failures(result)
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" || result.Ran != test.ran {
				t.Errorf("%d commands ran, want %d; failures:\n%s\nwant:\n%s", result.Ran, test.ran, got, test.want)
			}
		})
	}
}

// On a node, node blocks and gate blocks run, and the output of gate blocks is not compared.
func TestRunOnNode(t *testing.T) {
	place := newPlace(t)
	place.OnNode = true
	result := place.Run(t.Context(), script.Parse(console("$ echo a\nb")+"<!-- docs-test: node -->\n"+
		console("$ echo a\nb")))
	if got := failures(result); !strings.HasPrefix(got, "7: $ echo a") || len(result.Failures) != 1 || result.Ran != 2 {
		t.Errorf("%d commands; failures:\n%s", result.Ran, got)
	}
}

// Run reports a command that takes too long, and does not wait for the processes that the command started.
func TestLimit(t *testing.T) {
	place := newPlace(t)
	place.Limit = 300 * time.Millisecond
	started := time.Now()
	result := place.Run(t.Context(), script.Parse(console("$ sleep 60 | cat\n$ true")))
	if got := failures(result); !strings.Contains(got, "did not end within 300ms") || time.Since(started) > 5*time.Second {
		t.Errorf("after %v: %s", time.Since(started), got)
	}
}
