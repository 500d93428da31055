package release

import (
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPacked compares the embedded archive with the directory data.
func TestPacked(t *testing.T) {
	files := func(from fs.FS) map[string]string {
		entries, err := fs.ReadDir(from, "data")
		if err != nil {
			t.Fatal(err)
		}
		texts := map[string]string{}
		for _, entry := range entries {
			text, err := fs.ReadFile(from, "data/"+entry.Name())
			if err != nil {
				t.Fatal(err)
			}
			texts[entry.Name()] = string(text)
		}
		return texts
	}
	if diff := cmp.Diff(files(os.DirFS(".")), files(embedded())); diff != "" {
		t.Errorf("data.zip is not made from these files; run `make generate-release-data` (-files +archive):\n%.2000s", diff)
	}
}
