package realserver

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJoin(t *testing.T) {
	const hashes = "a==1\n 0a\n 0b\nb==2\n 0c\n"
	for name, tc := range map[string]struct{ list, want, err string }{
		"hashes": {
			"a==1\n    # via b\nb==2 ; sys_platform == 'win32'\n\n# left out:\n# c\n",
			"a==1 \\\n    --hash=sha256:0a \\\n    --hash=sha256:0b\n    # via b\n" +
				"b==2 ; sys_platform == 'win32' \\\n    --hash=sha256:0c\n\n# left out:\n# c\n",
			"",
		},
		"another version": {"a==1\nb==3\n", "", "hashes.txt has no hash of b==3 in list.txt"},
		"no version":      {"a\n", "", "hashes.txt has no hash of a in list.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "hashes.txt"), hashes)
			write(t, filepath.Join(dir, "list.txt"), tc.list)
			got, err := join(dir, "list.txt")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("lock file (-want +got):\n%s", diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
				t.Errorf("error %v, want %q", err, tc.err)
			}
		})
	}
}

// TestLocks shows that the hashes are complete, and that hashes.txt contains no others.
func TestLocks(t *testing.T) {
	dir := filepath.Join(here(), "..", "environment")
	lists, err := filepath.Glob(filepath.Join(dir, "*.in"))
	if err != nil || len(lists) == 0 {
		t.Fatalf("found %d .in files: %v", len(lists), err)
	}
	left, err := readHashes(filepath.Join(dir, "hashes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		lock, err := join(dir, strings.TrimSuffix(filepath.Base(list), ".in")+".txt")
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(lock) {
			version, _, _ := strings.Cut(line, " ")
			delete(left, version)
		}
	}
	if len(left) > 0 {
		t.Errorf("no list contains these packages of hashes.txt: %v", left)
	}
}
