package podtemplate

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// unnamed reports the items of lists that the merge cannot place, because they do not have the key that identifies an
// item, such as the name of a container or the path of a mount. An item that is a directive needs no key.
func unnamed(value any, typ reflect.Type, path *field.Path) field.ErrorList {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	fields, ok := value.(map[string]any)
	if !ok || typ.Kind() != reflect.Struct {
		return nil
	}
	var errs field.ErrorList
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			errs = append(errs, unnamed(value, f.Type, path)...)
			continue
		}
		if items, isList := fields[name].([]any); isList {
			errs = append(errs, unnamedItems(items, f, name, path.Child(name))...)
		} else {
			errs = append(errs, unnamed(fields[name], f.Type, path.Child(name))...)
		}
	}
	return errs
}

// unnamedItems reports the items of one list that the merge cannot place.
func unnamedItems(items []any, in reflect.StructField, name string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	key := in.Tag.Get("patchMergeKey")
	for i, item := range items {
		object, isObject := item.(map[string]any)
		if isObject && key != "" && object[key] == nil && object[directive] == nil {
			errs = append(errs, field.Required(path.Index(i).Child(key),
				fmt.Sprintf("required: %s identifies the items of %s", key, name)))
			continue
		}
		errs = append(errs, unnamed(item, in.Type.Elem(), path.Index(i))...)
	}
	return errs
}
