package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// A page contains the command's help, and keeps the handwritten text below the help. Package test/docs checks that the
// index links to every page.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	testutil.Must(t, run(folder))
	page := filepath.Join(folder, "image-label.md")
	text, err := os.ReadFile(page)
	testutil.Must(t, err)
	for _, want := range []string{
		"# image label\n", "kubectl llamastack image label IMAGE", "--push ", "## Exit codes\n", "| 2 | ",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	noted := strings.Replace(string(text), "--push ", "", 1) + "\n## Notes\n"
	testutil.Must(t, os.WriteFile(page, []byte(noted), 0o600))
	testutil.Must(t, run(folder))
	if again, err := os.ReadFile(page); err != nil || string(again) != string(text)+"\n## Notes\n" {
		t.Errorf("the second run changes the page, error %v:\n%s", err, again)
	}
}

// A page without the comment at the end of the help, and a page for an unknown command, cause errors, because these
// pages may contain handwritten text.
func TestHandwrittenTextIsKept(t *testing.T) {
	for name, text := range map[string]string{"status.md": "# status\n", "gone.md": "# gone\n\n" + end} {
		folder := t.TempDir()
		testutil.Must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
		if err := run(folder); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
