package golden_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// dirVariable is the environment variable that specifies the directory that TestDirInChild compares. The comparison
// runs in a child process, because a failed comparison fails the test that runs it.
const dirVariable = "GOLDEN_TEST_DIR"

func TestDirInChild(t *testing.T) {
	dir := os.Getenv(dirVariable)
	if dir == "" {
		dir = t.TempDir()
		put(t, dir, map[string]string{"a.yaml": "one\n", "sub/b.yaml": "two\n"})
	}
	golden.Dir(t, dir, map[string][]byte{"a.yaml": []byte("one\n"), "sub/b.yaml": []byte("two\n")})
}

func TestDirFails(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"changed": {map[string]string{"a.yaml": "another\n", "sub/b.yaml": "two\n"}, "a.yaml (-want +got)"},
		"missing": {map[string]string{"a.yaml": "one\n"}, "b.yaml: there is no golden file for this output"},
		"orphaned": {
			map[string]string{"a.yaml": "one\n", "sub/b.yaml": "two\n", "c.yaml": ""},
			"c.yaml: the test does not produce this file",
		},
		"no files": {nil, "a.yaml: there is no golden file for this output"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "want")
			put(t, dir, tc.files)
			output, err := child(t, dir)
			if err == nil || !strings.Contains(output, tc.want) {
				t.Errorf("the child process ended with %v and the output:\n%s\nwant a failure with %q", err, output, tc.want)
			}
		})
	}
}

// TestArchive shows that an archive is compared and updated like the directory of the same name.
func TestArchive(t *testing.T) {
	const rest = "Why.\n-- in.yaml --\nin\n-- other/a.yaml --\nother\n-- other/sub/a.yaml --\nother\n"
	dir := t.TempDir()
	put(t, dir, map[string]string{"case.txtar": rest + "-- want/a.yaml --\nanother\n-- want/orphan.yaml --\n"})
	at := filepath.Join(dir, "case", "want")
	output, err := child(t, at)
	for _, want := range []string{"a.yaml (-want +got)", "b.yaml: there is no golden file", "orphan.yaml: the test"} {
		if err == nil || !strings.Contains(output, want) {
			t.Errorf("the child process ended with %v and the output:\n%s\nwant a failure with %q", err, output, want)
		}
	}
	if output, err := child(t, at, "-update"); err != nil {
		t.Fatalf("update: %v\n%s", err, output)
	}
	if output, err := child(t, at); err != nil {
		t.Errorf("after an update: %v\n%s", err, output)
	}
	want := rest + "-- want/a.yaml --\none\n-- want/sub/b.yaml --\ntwo\n"
	if got := string(golden.Read(t, filepath.Join(dir, "case.txtar"))); got != want {
		t.Errorf("the archive is %q after an update, want %q", got, want)
	}
	if got := string(golden.Read(t, filepath.Join(dir, "case", "in.yaml"))); got != "in\n" {
		t.Errorf("the input is %q", got)
	}
	if got := strings.Join(golden.Cases(t, filepath.Join(dir, "case")), " "); got != "other want" {
		t.Errorf("cases are %q", got)
	}
	for _, at := range []string{at, golden.Unpack(t, at)} { // a directory is its own directory
		if got := string(golden.Read(t, filepath.Join(golden.Unpack(t, at), "sub", "b.yaml"))); got != "two\n" {
			t.Errorf("the unpacked file is %q", got)
		}
	}
}

func child(t *testing.T, dir string, arguments ...string) (string, error) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, append([]string{"-test.run=^TestDirInChild$"}, arguments...)...)
	command.Env = append(os.Environ(), dirVariable+"="+dir)
	output, err := command.CombinedOutput()
	return string(output), err
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
