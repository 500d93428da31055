package docs

import (
	"go/ast"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// ownKey matches the keys of the operator's annotations and labels, and not the versions of its API.
var ownKey = regexp.MustCompile(`^llamastack\.io/[a-z][a-z-]*$`)

// notKeys are other texts with that form.
var notKeys = []string{
	"llamastack.io/llama-stack-operator", // the reporter of events
	"llamastack.io/preflight",            // a readiness gate of preflight pods
}

// TestMetadataIsListed checks that the page about objects lists every annotation and label of the operator that users
// can write, with its effect, and no others.
func TestMetadataIsListed(t *testing.T) {
	var listed []string
	for line := range strings.Lines(readPage(t, "docs/reference/objects.md").section(t, "Annotations and labels")) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.Contains(cells[1], "`") {
			for key := range strings.SplitSeq(cells[1], ",") {
				listed = append(listed, strings.Trim(key, " `"))
			}
			if len(strings.TrimSpace(cells[3])) < len("nothing") {
				t.Errorf("%s has no effect in the table", cells[1])
			}
		}
	}
	used := metadataKeys(t)
	slices.Sort(listed)
	if diff := cmp.Diff(used, listed); diff != "" {
		t.Errorf("the table of annotations and labels in docs/reference/objects.md (-code +page):\n%s", diff)
	}
}

// metadataKeys returns the keys in the code of the operator. These are the values of all constants whose names begin
// with Label or Annotation, and all texts with their form. It leaves out the annotations of OpenShift.
func metadataKeys(t *testing.T) []string {
	t.Helper()
	var keys []string
	err := filepath.WalkDir(filepath.Join(testutil.Root(), "internal"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.Contains(path, "testutil") {
			return err
		}
		ofNames := filepath.Base(filepath.Dir(path)) == "names"
		ast.Inspect(parse(t, path), func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.ValueSpec:
				if ofNames && len(node.Values) == 1 && isMetadata(node.Names[0].Name) {
					keys = append(keys, text(node.Values[0]))
				}
			case *ast.BasicLit:
				if key := text(node); ownKey.MatchString(key) && !slices.Contains(notKeys, key) {
					keys = append(keys, key)
				}
			}
			return true
		})
		return nil
	})
	testutil.Must(t, err)
	slices.Sort(keys)
	keys = slices.DeleteFunc(slices.Compact(keys), func(key string) bool {
		return key == "llamastack.io/" || strings.HasPrefix(key, "openshift.io/")
	})
	if len(keys) < 15 {
		t.Fatalf("only %v", keys)
	}
	return keys
}

func isMetadata(name string) bool {
	return strings.HasPrefix(name, "Label") || strings.HasPrefix(name, "Annotation")
}

// text returns the value of a literal text, or "" for any other expression.
func text(node ast.Expr) string {
	literal, ok := node.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return value
}
