package release_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestDigests checks the digest of each data file, so that each change to the data appears as a separate line in the
// diff. Run with -update after `make release-data` or a change to an overlay.
func TestDigests(t *testing.T) {
	files, err := filepath.Glob("data/*")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%x  %s\n", sha256.Sum256(data), file)
	}
	const golden = "testdata/digests.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the data changed (-want +got):\n%s", diff)
	}
}
