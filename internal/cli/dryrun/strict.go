package dryrun

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/typecheck"
)

// WithPlace returns a problem as text with its path. If the problem is an unknown field, and a field with the same name
// exists at exactly one other path, the text suggests that path.
func WithPlace(problem typecheck.Problem, typ reflect.Type) string {
	name := problem.Path[strings.LastIndex(problem.Path, ".")+1:]
	if strings.HasPrefix(problem.Message, "unknown field") && !strings.Contains(problem.Message, "did you mean") {
		spec := typecheck.FieldsOf(typ)["spec"]
		if elsewhere := placesOf(name, spec, "spec"); len(elsewhere) == 1 {
			return fmt.Sprintf("%s: unknown field; did you mean %s?", problem.Path, elsewhere[0])
		}
	}
	return problem.String()
}

// placesOf returns the paths of all fields with the given name in the API's types, in no particular order.
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
