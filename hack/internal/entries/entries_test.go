package entries

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.md", "# A\n\n## `First`, `Second`: they \"differ\"\n\n## A pod is in `CrashLoopBackOff`: why\n\n## `Third` without a colon\n")
	write("b.md", "| reason | meaning |\n|---|---|\n| <a id=\"fourth\"></a>`Fourth` | it is `Fifth` |\n| `Sixth` | no anchor |\n")
	got, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	heading := Entry{"a.md", "first-second-they-differ"}
	want := map[string]Entry{"First": heading, "Second": heading, "Fourth": {"b.md", "fourth"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	write("c.md", "## `Second`: again\n")
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), `"Second" has two entries`) {
		t.Errorf("two entries: error %v", err)
	}
}
