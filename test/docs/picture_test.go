package docs

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// picture matches a picture in Markdown, and its alternative text.
var picture = regexp.MustCompile(`!\[([^\]]*)\]\([^)]+\)`)

// Each drawn picture is up to date: its last line has the checksum of its source.
func TestPicturesAreDrawn(t *testing.T) {
	sources, err := filepath.Glob(filepath.Join(testutil.Root(), "hack/pictures/*.dot"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("%d sources, error %v", len(sources), err)
	}
	for _, path := range sources {
		source, err := os.ReadFile(path)
		testutil.Must(t, err)
		name := strings.TrimSuffix(filepath.Base(path), ".dot") + ".svg"
		drawn := readPage(t, "docs/assets/"+name).text
		if !strings.Contains(drawn, fmt.Sprintf("<!-- %x  ", sha256.Sum256(source))) {
			t.Errorf("%s differs from its source; run make pictures", name)
		}
	}
}

// A reader who cannot see a picture reads a sentence instead.
func TestPicturesHaveText(t *testing.T) {
	found := 0
	for _, p := range pages(t) {
		for _, match := range picture.FindAllStringSubmatch(p.text, -1) {
			found++
			if len(strings.Fields(match[1])) < 5 {
				t.Errorf("%s: the picture %s has no sentence as its text", p.path, match[0])
			}
		}
	}
	if found < 4 {
		t.Errorf("found %d pictures", found)
	}
}
