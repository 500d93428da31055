package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/typecheck"
)

// withPlace is a problem as all errors are written. Of an unknown field that is a field elsewhere it says where.
func withPlace(problem typecheck.Problem, typ reflect.Type) string {
	name := problem.Path[strings.LastIndex(problem.Path, ".")+1:]
	if strings.HasPrefix(problem.Message, "unknown field") && !strings.Contains(problem.Message, "did you mean") {
		if elsewhere := placesOf(name, element(typ), nil); len(elsewhere) == 1 {
			return fmt.Sprintf("%s: unknown field, did you mean %s?", problem.Path, elsewhere[0])
		}
	}
	return problem.String()
}

// placesOf are the fields of our own types that have a name, wherever they are
// in the spec.
func placesOf(name string, typ reflect.Type, path []string) []string {
	var found []string
	for field := range typ.Fields() {
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		below := append(slices.Clone(path), jsonName(field))
		if jsonName(field) == name && len(path) > 0 {
			found = append(found, strings.Join(below, "."))
		}
		ours := inner.Kind() == reflect.Struct && strings.Contains(inner.PkgPath(), "/api/v1alpha")
		if ours && below[0] == "spec" {
			found = append(found, placesOf(name, inner, below)...)
		}
	}
	return found
}

func element(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	return typ
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
