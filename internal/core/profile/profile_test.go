package profile_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestOf(t *testing.T) {
	older := reflect.ValueOf(profile.Of(map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}))
	for i := range older.NumField() {
		if !older.Field(i).Bool() {
			t.Errorf("%s is not set for a stack that was created as v1alpha1", older.Type().Field(i).Name)
		}
	}
	for _, value := range []string{"", "v1alpha2", "true"} {
		if got := profile.Of(map[string]string{names.AnnotationCompat: value}); got != (profile.Profile{}) {
			t.Errorf("the value %q gives %+v", value, got)
		}
	}
}

// TestPage compares the comments of the fields with the list in the page about v1alpha1.
func TestPage(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "profile.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	ast.Inspect(file, func(node ast.Node) bool {
		if structure, is := node.(*ast.StructType); is {
			for _, field := range structure.Fields.List {
				want.WriteString("- " + strings.TrimSpace(field.Doc.Text()) + "\n")
			}
		}
		return true
	})
	page, err := os.ReadFile(filepath.Join(testutil.Root(), "docs", "explanation", "v1alpha1.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "\n<!-- internal/core/profile -->\n")
	list, _, _ = strings.Cut(list, "\n\n")
	joined := strings.ReplaceAll(list+"\n", "\n  ", " ")
	if diff := cmp.Diff(want.String(), joined); diff != "" {
		t.Errorf("docs/explanation/v1alpha1.md (-profile.go +page):\n%s", diff)
	}
}
