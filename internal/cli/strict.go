package cli

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/typecheck"
)

// withPlace is a problem as all errors are written. Of an unknown field that is a field elsewhere it says where.
func withPlace(problem typecheck.Problem, typ reflect.Type) string {
	name := problem.Path[strings.LastIndex(problem.Path, ".")+1:]
	if strings.HasPrefix(problem.Message, "unknown field") && !strings.Contains(problem.Message, "did you mean") {
		spec := typecheck.FieldsOf(typ)["spec"]
		if elsewhere := placesOf(name, spec, "spec"); len(elsewhere) == 1 {
			return fmt.Sprintf("%s: unknown field, did you mean %s?", problem.Path, elsewhere[0])
		}
	}
	return problem.String()
}

// placesOf are the fields of our own types that have a name, in no order, wherever they are below a path.
func placesOf(name string, typ reflect.Type, path string) []string {
	var found []string
	for key, field := range typecheck.FieldsOf(typ) {
		below := path + "." + key
		if key == name {
			found = append(found, below)
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if field.Kind() == reflect.Struct && strings.Contains(field.PkgPath(), "/api/v1alpha") {
			found = append(found, placesOf(name, field, below)...)
		}
	}
	return found
}
