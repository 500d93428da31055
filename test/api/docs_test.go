package api

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// The generated reference cannot show the object form of a field that has two forms. Therefore,
// docs/development/validation.md shows the object forms of all these fields.
func TestDocsShowObjectForms(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(testutil.Root(), "docs/development/validation.md"))
	testutil.Must(t, err)
	for _, form := range []reflect.Type{
		reflect.TypeFor[v1alpha2.Provider](), reflect.TypeFor[v1alpha2.Model](), reflect.TypeFor[v1alpha2.Tool](),
		reflect.TypeFor[v1alpha2.Shield](), reflect.TypeFor[v1alpha2.ExposeSpec](),
	} {
		for field := range form.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "-" && !strings.Contains(string(data), "`"+name+"`") {
				t.Errorf("docs/development/validation.md does not show %s.%s", form.Name(), name)
			}
		}
	}
}
