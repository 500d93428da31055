package typecheck

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Missing returns the paths of the missing required fields of a value, sorted by field name. A field is required if its
// JSON tag has no option such as omitempty, and the field is not a pointer. Null counts as absent. Missing skips maps,
// types with their own decoder, and values of the wrong type. Check reports values of the wrong type. The parameter
// `at` is the path of the value.
func Missing(value any, typ reflect.Type, at string) []string {
	typ = pointed(typ)
	if reflect.PointerTo(typ).Implements(unmarshaler) {
		return nil
	}
	var missing []string
	switch inner := value.(type) {
	case []any:
		if typ.Kind() == reflect.Slice {
			for i, item := range inner {
				missing = append(missing, Missing(item, typ.Elem(), fmt.Sprintf("%s[%d]", at, i))...)
			}
		}
	case map[string]any:
		if typ.Kind() == reflect.Struct {
			return missingFields(inner, typ, at)
		}
	}
	return missing
}

func missingFields(given map[string]any, typ reflect.Type, at string) []string {
	var missing []string
	fields, required := FieldsOf(typ), requiredOf(typ)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch value := given[name]; {
		case value != nil:
			missing = append(missing, Missing(value, fields[name], join(at, name))...)
		case required[name]:
			missing = append(missing, join(at, name))
		}
	}
	return missing
}

// requiredOf returns the JSON names of the required fields of a type.
func requiredOf(typ reflect.Type) map[string]bool {
	required := map[string]bool{}
	for field := range typ.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			maps.Copy(required, requiredOf(pointed(field.Type)))
		case name != "" && name != "-" && options == "":
			required[name] = field.Type.Kind() != reflect.Pointer
		}
	}
	return required
}
