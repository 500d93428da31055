package contract

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// table contains the differences, each with its reason.
type table []*reason

// reason is a row of the table: a difference, its reason and its places.
type reason struct {
	// What describes the difference, and Why is its reason. The documentation shows both.
	What, Why string
	Where     []*place
}

// place is one field of one kind of object. `*` in a pattern matches any string.
type place struct {
	// Object is the kind of the object and a pattern for its name, for example `Deployment <cr>`.
	Object string
	// Path is the path of the field. An empty path means the object itself.
	Path string
	// Today and Ours are patterns for the values of the previous operator and of this operator. An empty string matches
	// any value, and `-` means that the field is absent.
	Today, Ours string
	// Manifests are patterns for the manifests in which the field differs. An empty list matches any manifest.
	Manifests []string

	seen map[string]bool
}

func readTable(t *testing.T) table {
	t.Helper()
	data := golden.Read(t, "testdata/differences.yaml")
	var found table
	testutil.Must(t, yaml.UnmarshalStrict(data, &found))
	for _, r := range found {
		if r.What == "" || r.Why == "" || len(r.Where) == 0 {
			t.Errorf("differences.yaml: %q has no reason or no place", r.What)
		}
		for _, p := range r.Where {
			p.seen = make(map[string]bool)
		}
	}
	return found
}

// declares reports whether the table contains a difference, and marks the matching places as used.
func (all table) declares(d difference) bool {
	declared := false
	for _, r := range all {
		for _, p := range r.Where {
			if p.matches(d) {
				p.seen[d.Manifest] = true
				declared = true
			}
		}
	}
	return declared
}

func (p *place) matches(d difference) bool {
	value := func(pattern, value string) bool { return pattern == "" || like(pattern, value) }
	return like(p.Object, d.Object) && like(p.Path, d.Path) && value(p.Today, d.Today) && value(p.Ours, d.Ours) &&
		(len(p.Manifests) == 0 || slices.ContainsFunc(p.Manifests,
			func(pattern string) bool { return like(pattern, d.Manifest) }))
}

// unused returns the places that match no difference. It includes places for published manifests only on machines that
// have these manifests.
func (all table) unused(havePublished bool) []string {
	var gone []string
	for _, r := range all {
		for _, p := range r.Where {
			if len(p.Manifests) == 0 && len(p.seen) == 0 {
				gone = append(gone, fmt.Sprintf("%s: %s %s", r.What, p.Object, p.Path))
			}
			for _, manifest := range p.Manifests {
				if !p.seenIn(manifest) && (havePublished || !strings.HasPrefix(manifest, "real/")) {
					gone = append(gone, fmt.Sprintf("%s: %s %s in %s", r.What, p.Object, p.Path, manifest))
				}
			}
		}
	}
	return gone
}

// seenIn reports whether the field differs in a manifest that matches the pattern.
func (p *place) seenIn(pattern string) bool {
	for manifest := range p.seen {
		if like(pattern, manifest) {
			return true
		}
	}
	return false
}

// The page docs/reference/previous-operator.md contains the table.
func TestDocumentation(t *testing.T) {
	const begin, end = "<!-- differences: written by `go test ./test/contract -update` -->\n", "<!-- end of differences -->\n"
	file := filepath.Join(testutil.Root(), "docs/reference/previous-operator.md")
	data := golden.Read(t, file)
	before, rest, found := strings.Cut(string(data), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no marker for the table", file)
	}
	page := before + begin + readTable(t).markdown() + end + after
	if golden.Updating() {
		testutil.Must(t, os.WriteFile(file, []byte(page), 0o644))
		return
	}
	if diff := cmp.Diff(string(data), page); diff != "" {
		t.Errorf("%s (-is +should be), run with -update:\n%s", file, diff)
	}
}

func (all table) markdown() string {
	var b strings.Builder
	b.WriteString("| differs | why |\n|---|---|\n")
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %s |\n", r.What, r.Why)
	}
	return b.String()
}
