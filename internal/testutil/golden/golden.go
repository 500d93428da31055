package golden

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "replace the golden files with the output of the tests")

// Updating reports whether golden files are being rewritten.
func Updating() bool { return *update }

// Cases lists the directories and archives directly in `dir`, sorted. It fails if there are none, or if `dir` is both an
// archive and a directory.
func Cases(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if archive, folder, ok := archiveOf(dir); ok {
		if err == nil {
			t.Fatalf("there are golden cases in %s and in %s", archive, dir)
		}
		return casesIn(t, archive, folder)
	}
	if err != nil {
		t.Fatalf("list golden cases: %v", err)
	}
	var cases []string
	for _, entry := range entries {
		if name, archive := strings.CutSuffix(entry.Name(), extension); archive || entry.IsDir() {
			cases = append(cases, name)
		}
	}
	slices.Sort(cases)
	if len(cases) == 0 {
		t.Fatalf("there is no golden case in %s", dir)
	}
	return cases
}

// Read returns the contents of an input file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	if archive, name, ok := archiveOf(path); ok {
		files, _ := unpack(t, archive)
		data, ok := files[name]
		if !ok {
			t.Fatalf("read golden input: %s does not contain %q", archive, name)
		}
		return data
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read golden input: %v", err)
	}
	return data
}

// Unpack returns a directory with the files in `dir`, for a command that reads its input from files. The directory is
// `dir` itself, or a temporary directory if `dir` is in an archive.
func Unpack(t testing.TB, dir string) string {
	t.Helper()
	if _, _, ok := archiveOf(dir); !ok {
		return dir
	}
	unpacked := t.TempDir()
	for name, data := range Files(t, dir) {
		writeFile(t, filepath.Join(unpacked, filepath.FromSlash(name)), data)
	}
	return unpacked
}

// Dir compares the files in `got`, whose keys are slash-separated paths below `dir`, with the files in `dir`.
func Dir(t testing.TB, dir string, got map[string][]byte) {
	t.Helper()
	if *update {
		write(t, dir, got)
		return
	}
	want := Files(t, dir)
	for _, name := range slices.Sorted(maps.Keys(got)) {
		wanted, ok := want[name]
		if !ok {
			t.Errorf("%s: there is no golden file for this output; run the test with -update", filepath.Join(dir, name))
			continue
		}
		if diff := cmp.Diff(string(wanted), string(got[name])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", filepath.Join(dir, name), diff)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: the test does not produce this file; run the test with -update", filepath.Join(dir, name))
		}
	}
}

// Files returns the files below `dir`, keyed by their slash-separated paths. There are none if `dir` does not exist.
func Files(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	if archive, folder, ok := archiveOf(dir); ok {
		all, _ := unpack(t, archive)
		for name, data := range all {
			if name, ok := strings.CutPrefix(name, below(folder)); ok {
				files[name] = data
			}
		}
		return files
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err) && path == dir:
			return nil
		case err != nil || entry.IsDir():
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatalf("read golden files: %v", err)
	}
	return files
}

func write(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	if archive, folder, ok := archiveOf(dir); ok {
		pack(t, archive, folder, files)
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatalf("remove golden files: %v", err)
	}
	for name, data := range files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), data)
	}
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatalf("write golden file: %v", err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatalf("write golden file: %v", err)
	}
}
