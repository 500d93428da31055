package repository

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a file and creates its directories.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFindWalksUpPastOtherModules(t *testing.T) {
	top := t.TempDir()
	write(t, filepath.Join(top, "go.mod"), "// a comment\nmodule "+module+"\n\ngo 1.26.0\n")
	inner := filepath.Join(top, "test", "cluster")
	write(t, filepath.Join(inner, "go.mod"), "module "+module+"/test/cluster\n")

	for _, folder := range []string{top, filepath.Join(top, "test"), inner} {
		root, err := Find(folder)
		if err != nil {
			t.Fatalf("Find(%q): %v", folder, err)
		}
		if string(root) != top {
			t.Errorf("Find(%q) = %q, want %q", folder, root, top)
		}
	}
}

func TestFindOutsideNamesTheFolder(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "go.mod"), "module example.com/other\n")
	_, err := Find(folder)
	if err == nil || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), module) {
		t.Errorf("Find(%q) = %v, want an error naming the folder and the module", folder, err)
	}
}
