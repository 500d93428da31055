package golden

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// extension is the end of the name of an archive.
const extension = ".txtar"

// marker matches the line before the content of a file in an archive. Archives have the format of
// golang.org/x/tools/txtar. That module is not a dependency, because it would decide the versions of other modules.
var marker = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// archiveOf finds the archive that contains a path. It returns the path of the archive, and the path in the archive.
func archiveOf(path string) (archive, name string, ok bool) {
	for dir := filepath.Clean(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir + extension); err == nil {
			return dir + extension, filepath.ToSlash(name), true
		}
		name = filepath.Join(filepath.Base(dir), name)
	}
	return "", "", false
}

// unpack returns the files in an archive, keyed by their paths, and the comment before the first file.
func unpack(t testing.TB, archive string) (files map[string][]byte, comment []byte) {
	t.Helper()
	content, err := os.ReadFile(archive)
	if err != nil {
		t.Fatalf("read golden files: %v", err)
	}
	files = make(map[string][]byte)
	at := marker.FindAllSubmatchIndex(content, -1)
	for i, found := range at {
		end := len(content)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		files[string(content[found[2]:found[3]])] = content[found[1]:end]
	}
	if len(at) > 0 {
		comment = content[:at[0][0]]
	}
	return files, comment
}

// casesIn lists the folders directly in a folder of an archive, sorted.
func casesIn(t testing.TB, archive, folder string) []string {
	t.Helper()
	files, _ := unpack(t, archive)
	found := make(map[string]bool)
	for name := range files {
		rest, inFolder := strings.CutPrefix(name, below(folder))
		if name, _, isFolder := strings.Cut(rest, "/"); inFolder && isFolder {
			found[name] = true
		}
	}
	if len(found) == 0 {
		t.Fatalf("there is no golden case in %s", archive)
	}
	return slices.Sorted(maps.Keys(found))
}

// below returns the start of the paths of the files in a folder of an archive.
func below(folder string) string { return strings.TrimPrefix(folder+"/", "/") }

// pack replaces the files in a folder of an archive. In each folder, the files come before the folders.
func pack(t testing.TB, archive, folder string, files map[string][]byte) {
	t.Helper()
	all, comment := unpack(t, archive)
	maps.DeleteFunc(all, func(name string, _ []byte) bool { return strings.HasPrefix(name, below(folder)) })
	for name, data := range files {
		all[below(folder)+name] = data
	}
	text := bytes.NewBuffer(slices.Clip(comment)) // the files share its array
	for _, name := range slices.SortedFunc(maps.Keys(all), filesFirst) {
		if data := all[name]; marker.Match(data) || len(data) > 0 && !bytes.HasSuffix(data, []byte("\n")) {
			t.Fatalf("%s cannot contain %s: use a directory", archive, name)
		}
		fmt.Fprintf(text, "-- %s --\n%s", name, all[name])
	}
	if err := os.WriteFile(archive, text.Bytes(), 0o644); err != nil {
		t.Fatalf("write golden file: %v", err)
	}
}

// filesFirst compares two paths. In each folder, the files come before the folders.
func filesFirst(a, b string) int {
	for {
		first, restA, folderA := strings.Cut(a, "/")
		second, restB, folderB := strings.Cut(b, "/")
		switch {
		case folderA != folderB && folderA:
			return 1
		case folderA != folderB:
			return -1
		case first != second || !folderA:
			return cmp.Compare(first, second)
		}
		a, b = restA, restB
	}
}
