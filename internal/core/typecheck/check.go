package typecheck

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// Problem is a part of a value that does not fit its type.
type Problem struct {
	// Path is the path from the root, for example spec.workload.storage.size. Empty means the root itself.
	Path string
	// Message states the problem and the remedy. It never contains text from a field that can hold a secret.
	Message string
	// Unknown reports whether the field does not exist. Any other problem is a value that its field does not accept.
	Unknown bool
}

// String returns the path and the message, in the format of all errors.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Check returns the problems with a value, sorted by field name. The value must come from encoding/json with UseNumber.
// The result `fitting` is the value without the parts that a decoder rejects, so that the rest can be decoded and
// checked too. Rejected fields are missing from `fitting`, and rejected list items are null.
func Check(value any, typ reflect.Type) (fitting any, problems []Problem) {
	c := checker{}
	fitting, _ = c.value(value, typ, "")
	return fitting, c.problems
}

type checker struct{ problems []Problem }

// wrong adds a problem for a value that does not fit. It returns nil and false, which are the results of a check that
// rejects the value.
func (c *checker) wrong(path, format string, args ...any) (any, bool) {
	c.problems = append(c.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	return nil, false
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// value checks one value, and reports whether a decoder accepts it. Null counts as absent.
func (c *checker) value(value any, typ reflect.Type, path string) (any, bool) {
	if value == nil {
		return nil, true
	}
	typ = pointed(typ)
	if reflect.PointerTo(typ).Implements(unmarshaler) {
		return c.special(value, typ, path)
	}
	switch typ.Kind() {
	case reflect.Struct:
		return c.object(value, typ, path)
	case reflect.Map:
		return c.mapping(value, typ, path)
	case reflect.Slice, reflect.Array:
		return c.list(value, typ, path)
	default:
		return c.scalar(value, typ, path)
	}
}

// object checks the fields of a struct.
func (c *checker) object(value any, typ reflect.Type, path string) (any, bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		return c.wrong(path, "must be %s, got %s", outline(typ), kindOf(value))
	}
	known := FieldsOf(typ)
	if inner := oneLevelDeeper(fields, typ); inner != "" {
		return c.wrong(path, "%s one level deeper: write %s", inner, outline(typ))
	}
	fitting := make(map[string]any, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := join(path, name)
		field, ok := known[name]
		if !ok {
			message := "is not a field: remove it"
			if len(c.problems) < maxSuggested {
				message = unknownField(name, known)
			}
			c.problems = append(c.problems, Problem{Path: at, Message: message, Unknown: true})
			continue
		}
		if inner, ok := c.value(fields[name], field, at); ok {
			fitting[name] = inner
		}
	}
	return fitting, true
}

// mapping checks the values of a map. The path of a value contains its key in brackets. If the values of the map are
// lists, the path has the form of a field instead, because users regard such a key as a field.
func (c *checker) mapping(value any, typ reflect.Type, path string) (any, bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		return c.wrong(path, "must be an object, got %s", kindOf(value))
	}
	fitting := make(map[string]any, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] == nil {
			continue // the API server removes the entry
		}
		at := path + "[" + name + "]"
		if typ.Elem().Kind() == reflect.Slice {
			at = join(path, name)
		}
		if inner, ok := c.value(fields[name], typ.Elem(), at); ok {
			fitting[name] = inner
		}
	}
	return fitting, true
}

func (c *checker) list(value any, typ reflect.Type, path string) (any, bool) {
	if typ.Elem().Kind() == reflect.Uint8 {
		return c.scalar(value, reflect.TypeFor[string](), path)
	}
	items, ok := value.([]any)
	if !ok {
		return c.wrong(path, "must be a list, got %s; write a \"-\" in front of each item", kindOf(value))
	}
	fitting := make([]any, len(items))
	for i, item := range items {
		fitting[i], _ = c.value(item, typ.Elem(), fmt.Sprintf("%s[%d]", path, i))
	}
	return fitting, true
}

// FieldsOf returns the fields of a struct, keyed by their JSON names, including those of embedded structs.
func FieldsOf(typ reflect.Type) map[string]reflect.Type {
	known := map[string]reflect.Type{}
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			maps.Copy(known, FieldsOf(pointed(field.Type)))
		case name != "" && name != "-":
			known[name] = field.Type
		}
	}
	return known
}

// pointed returns the type to which a pointer type points, or any other type unchanged.
func pointed(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ
}

// maxSuggested is the number of problems after which a message about an unknown field is short, so that neither this
// package nor its callers look for a suggestion. That would take longer than all other checks of a field.
const maxSuggested = 100

// fewFields is the maximum number of field names that an error lists.
const fewFields = 12

func unknownField(name string, known map[string]reflect.Type) string {
	if field, _, joined := strings.Cut(name, ":"); joined && known[field] != nil {
		return fmt.Sprintf("unknown field; YAML needs a space after the colon: write %q", field+": …")
	}
	names := slices.Sorted(maps.Keys(known))
	near := suggest.Nearest(name, names)
	switch {
	case near != "":
		return fmt.Sprintf("unknown field; did you mean %q?", near)
	case len(names) == 0 || len(names) > fewFields:
		return "unknown field: remove it"
	default:
		return "unknown field; known fields: " + strings.Join(names, ", ")
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
