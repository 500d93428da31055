package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// explainType turns an error of the decoder about a value of the wrong type into
// the form all our errors have. The value itself is not shown.
func explainType(err error, data []byte, into any) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(data, into))
	if !ok || wrong.Field == "" {
		return err.Error()
	}
	got, _, _ := strings.Cut(wrong.Value, " ")
	message := fmt.Sprintf("%s: must be %s, got %s", placeOf(data, wrong.Field, got), wrong.Type, got)
	if wrong.Type.Kind() == reflect.String && (got == "number" || got == "bool") {
		message += "; quote it"
	}
	return message
}

// placeOf gives the path of the first value of a JSON type at a field, with the
// places in the lists that the decoder does not tell.
func placeOf(data []byte, field, kind string) string {
	var object any
	if json.Unmarshal(data, &object) != nil {
		return field
	}
	if found, ok := search(object, strings.Split(field, "."), kind); ok {
		return strings.TrimPrefix(found, ".")
	}
	return field
}

func search(value any, steps []string, kind string) (string, bool) {
	if list, ok := value.([]any); ok && len(steps) > 0 {
		for i, item := range list {
			if found, ok := search(item, steps, kind); ok {
				return fmt.Sprintf("[%d]%s", i, found), true
			}
		}
		return "", false
	}
	if len(steps) == 0 {
		return "", kindOf(value) == kind
	}
	fields, _ := value.(map[string]any)
	inner, ok := fields[steps[0]]
	if !ok {
		return "", false
	}
	found, ok := search(inner, steps[1:], kind)
	return "." + steps[0] + found, ok
}

// kindOf names a JSON type as the decoder does.
func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	default:
		return "null"
	}
}

var unknownField = regexp.MustCompile(`^unknown field "(.+)"$`)

// explainStrict turns the decoder's `unknown field "spec.networkin"` into the
// form all our errors have, with the nearest known name.
func explainStrict(err error, typ reflect.Type) string {
	match := unknownField.FindStringSubmatch(err.Error())
	if match == nil {
		return err.Error()
	}
	parent, name := splitPath(match[1])
	message := match[1] + ": unknown field"
	if near := schema.Nearest(name, fieldNames(typ, parent)); near != "" {
		return message + fmt.Sprintf(", did you mean %q?", near)
	}
	if elsewhere := placesOf(name, element(typ), nil); len(elsewhere) == 1 {
		return message + fmt.Sprintf(", did you mean %s?", elsewhere[0])
	}
	return message
}

func splitPath(path string) (parent []string, name string) {
	steps := strings.Split(path, ".")
	return steps[:len(steps)-1], steps[len(steps)-1]
}

// fieldNames lists the JSON names of the struct at a path of a type.
func fieldNames(typ reflect.Type, path []string) []string {
	typ = element(typ)
	for _, step := range path {
		name, _, _ := strings.Cut(step, "[")
		if typ = fieldType(typ, name); typ == nil {
			return nil
		}
	}
	if typ.Kind() != reflect.Struct {
		return nil
	}
	var found []string
	for field := range typ.Fields() {
		if name := jsonName(field); name != "" && name != "-" {
			found = append(found, name)
		}
	}
	return found
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

// fieldType follows one step and looks through pointers, lists and maps.
func fieldType(typ reflect.Type, name string) reflect.Type {
	if typ.Kind() == reflect.Map {
		return element(typ.Elem())
	}
	if typ.Kind() != reflect.Struct {
		return nil
	}
	for field := range typ.Fields() {
		if jsonName(field) == name {
			return element(field.Type)
		}
	}
	return nil
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
