package verdict

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, name, fixed string) *Store {
	t.Helper()
	s, err := Open(name, fixed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// key returns the key for one part.
func key(t *testing.T, s *Store, part any) string {
	t.Helper()
	k, err := s.Key(part)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// saved returns the path of a store's file with one verdict.
func saved(t *testing.T, name, fixed, value string) string {
	t.Helper()
	s := open(t, name, fixed)
	if err := s.Save(key(t, s, "part"), value); err != nil {
		t.Fatal(err)
	}
	return s.path
}

func load(t *testing.T, name, fixed string) string {
	t.Helper()
	s, value := open(t, name, fixed), ""
	s.Load(key(t, s, "part"), &value)
	return value
}

func TestStore(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	saved(t, "a", "fixed", "first")
	saved(t, "a", "fixed", "last")
	got := []string{load(t, "a", "fixed"), load(t, "a", "other"), load(t, "b", "fixed")}
	if diff := cmp.Diff([]string{"last", "", ""}, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	t.Setenv(freshVariable, freshValue)
	if got := load(t, "a", "fixed"); got != "" {
		t.Errorf("with %s=%s, the store contains %q", freshVariable, freshValue, got)
	}
}

// TestForeignFiles shows that a store ignores files that another program wrote, or that a killed process wrote in part.
func TestForeignFiles(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := saved(t, "a", "fixed", "kept")
	content := string(read(t, path))
	for name, tc := range map[string]struct{ text, want string }{
		"torn line":           {content[:len(content)-4], ""},
		"torn line, then one": {content[:len(content)-4] + content, "kept"},
		"another form":        {"\x00\x01 no JSON\n[1]\n{\"key\": 7}\n" + content, "kept"},
		"another value":       {content + fmt.Sprintf("{%q:%q,\"value\":{}}\n", "key", Digest("fixed", `["part"]`)), ""},
		"empty":               {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, tc.text)
			if got := load(t, "a", "fixed"); got != tc.want {
				t.Errorf("the store contains %q, want %q", got, tc.want)
			}
			saved(t, "a", "fixed", "new")
			if got := load(t, "a", "fixed"); got != "new" {
				t.Errorf("the store contains %q, want the verdict that was saved afterwards", got)
			}
		})
	}
	write(t, path, string(read(t, saved(t, "a", "other", "of another store"))))
	if got := load(t, "a", "fixed"); got != "" {
		t.Errorf("the store contains %q from the file of another store", got)
	}
}

// TestProcesses shows that two stores can write to the same file at the same time.
func TestProcesses(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const each = 50
	var writers sync.WaitGroup
	for number := range 4 {
		s := open(t, "a", "fixed")
		writers.Go(func() {
			for i := range each {
				if err := s.Save(fmt.Sprintf("%d-%d", number, i), i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if got := len(open(t, "a", "fixed").known); got != 4*each {
		t.Errorf("the store contains %d verdicts, want %d", got, 4*each)
	}
}

// TestBounded shows that the folder and its files do not grow without limit.
func TestBounded(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := saved(t, "other", "fixed", "kept")
	for i := range 3 * keptFiles {
		saved(t, "a", Digest(fmt.Sprint(i)), "kept")
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(files) > keptFiles+2 {
		t.Errorf("the folder contains %q (%v)", files, err)
	}
	if load(t, "other", "fixed") != "kept" || load(t, "a", Digest(fmt.Sprint(3*keptFiles-1))) != "kept" {
		t.Error("verdicts in use were removed")
	}
	if err := os.Truncate(path, maxSize+1); err != nil {
		t.Fatal(err)
	}
	if got := load(t, "other", "fixed"); got != "" {
		t.Errorf("a file that is too large contains %q", got)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a file that is too large remains: %v", err)
	}
}

// TestDigests shows that a digest depends on the names of files and on the division into texts.
func TestDigests(t *testing.T) {
	digests := map[string]bool{Digest("ab", "c"): true, Digest("a", "bc"): true}
	for _, name := range []string{"a", "b"} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, name), "1")
		tree, err := Tree(dir, func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		files, err := Files(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		digests[tree], digests[files+" of files"] = true, true
	}
	if len(digests) != 6 {
		t.Errorf("only %d of 6 digests differ", len(digests))
	}
	if _, err := Files(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing file has a digest")
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
