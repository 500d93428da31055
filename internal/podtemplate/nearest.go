package podtemplate

import (
	"fmt"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
)

// unknownField is what an error says of a field that a pod template does not have, given as a path in it.
func unknownField(path string) string {
	at, parts := reflect.TypeFor[corev1.PodTemplateSpec](), strings.Split(path, ".")
	for _, part := range parts[:len(parts)-1] {
		part, _, _ = strings.Cut(part, "[")
		if at = fieldType(at, part); at == nil {
			return "unknown field"
		}
	}
	if near := schema.Nearest(parts[len(parts)-1], fieldNames(at)); near != "" {
		return fmt.Sprintf("unknown field, did you mean %q?", near)
	}
	return "unknown field"
}

// fieldType is the type of a field, of its items where it is a list; nil when there is none.
func fieldType(of reflect.Type, name string) reflect.Type {
	for f := range of.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			if found := fieldType(f.Type, name); found != nil {
				return found
			}
		}
		if tag != name {
			continue
		}
		found := f.Type
		for found.Kind() == reflect.Pointer || found.Kind() == reflect.Slice {
			found = found.Elem()
		}
		if found.Kind() == reflect.Struct {
			return found
		}
		return nil
	}
	return nil
}

func fieldNames(of reflect.Type) []string {
	var found []string
	for f := range of.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && tag == "":
			found = append(found, fieldNames(f.Type)...)
		case tag != "":
			found = append(found, tag)
		}
	}
	return found
}
