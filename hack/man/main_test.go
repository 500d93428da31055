package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each command has a page. The pages depend on the time only through SOURCE_DATE_EPOCH.
func TestPages(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "86400")
	folder := t.TempDir()
	if err := run("1.2.3", folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "-render", "-image-label", "-completion-bash"} {
		text, err := os.ReadFile(filepath.Join(folder, "kubectl-llamastack"+name+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		head, rest, _ := strings.Cut(string(text), ".SH NAME")
		if !strings.Contains(head, `"Jan 1970" "kubectl-llamastack" "Llama Stack"`) || strings.Contains(rest, "1970") {
			t.Errorf("kubectl-llamastack%s.1 begins with %q", name, head)
		}
	}
}
