package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A page contains the command's help, and keeps the handwritten text below the help. The index links to the pages of
// the commands.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	if err := run(folder); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(folder, "image-label.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# image label\n", "kubectl llamastack image label IMAGE", "--push ", "## Exit codes\n", "| 2 | ",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	noted := strings.Replace(string(text), "--push ", "", 1) + "\n## Notes\n"
	if err := os.WriteFile(page, []byte(noted), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(folder); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(page); err != nil || string(again) != string(text)+"\n## Notes\n" {
		t.Errorf("the second run changes the page, error %v:\n%s", err, again)
	}
	overview, err := os.ReadFile(filepath.Join(folder, index))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[`image label`](image-label.md)", "[`status`](status.md)"} {
		if !strings.Contains(string(overview), want) {
			t.Errorf("no %q in\n%s", want, overview)
		}
	}
}

// A page without the comment at the end of the help, and a page for an unknown command, cause errors, because these
// pages may contain handwritten text.
func TestHandwrittenTextIsKept(t *testing.T) {
	for name, text := range map[string]string{"status.md": "# status\n", "gone.md": "# gone\n\n" + end} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(folder); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
