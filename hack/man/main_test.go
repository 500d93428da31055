package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func pages(t *testing.T, folder string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(file)] = string(data)
	}
	return found
}

// dated matches a month with a year, the form of a date in the header of a man page.
var dated = regexp.MustCompile(`"[A-Z][a-z]{2} \d{4}"`)

// Each command has a page, and the headers of the pages contain no date. Two runs write the same bytes, and a run
// removes the page of a command that no longer exists.
func TestPages(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(second, "kubectl-llamastack-gone.1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{first, second} {
		if err := run("1.2.3", folder); err != nil {
			t.Fatal(err)
		}
	}
	found := pages(t, first)
	if diff := cmp.Diff(found, pages(t, second)); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	for _, name := range []string{
		"", "-render", "-validate", "-init", "-image-label", "-bundle-load",
		"-completion-bash",
	} {
		text, ok := found["kubectl-llamastack"+name+".1"]
		if !ok {
			t.Errorf("the page kubectl-llamastack%s.1 is missing", name)
			continue
		}
		if head, _, _ := strings.Cut(text, ".SH NAME"); !strings.Contains(head, ".TH ") || dated.MatchString(head) {
			t.Errorf("kubectl-llamastack%s.1 begins with %q", name, head)
		}
	}
}
