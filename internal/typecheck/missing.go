package typecheck

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Missing are the paths of the fields that a value lacks, in the order of the sorted names: a field whose JSON is written
// when it is empty has to be there, unless it is a pointer. Null is the same as nothing. What a type of its own decoder lacks is not looked for,
// and what does not fit its type is left to Check. The value lies at the given path.
func Missing(value any, typ reflect.Type, at string) []string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
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

// requiredOf are the JSON names of the fields that an object of a type has to have.
func requiredOf(typ reflect.Type) map[string]bool {
	required := map[string]bool{}
	for field := range typ.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			inner := field.Type
			for inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			maps.Copy(required, requiredOf(inner))
		case name != "" && name != "-" && options == "":
			required[name] = field.Type.Kind() != reflect.Pointer
		}
	}
	return required
}
