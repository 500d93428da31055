package intent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/suggest"
)

// decodeJSON reads one JSON value. Numbers keep their written form.
func decodeJSON(raw []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return value, nil
}

// object reads the fields of one JSON object strictly. Each field of the wrong type, and each field that was not read,
// is an error.
type object struct {
	*Errors
	path   *field.Path
	fields map[string]any
	asked  []string
}

// newObject returns a reader for a JSON object. For any other value, it reports an error with the expected form.
func newObject(value any, path *field.Path, want string, errs *Errors) (*object, bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		errs.Add(wrongType(path, want, value))
		return nil, false
	}
	return &object{Errors: errs, path: path, fields: fields}, true
}

// atMost reports whether each selected object has at most `limit` fields, and adds an error for each object that has
// more. Each name selects an inner object. An empty name selects the object itself.
func (o *object) atMost(limit int, names ...string) bool {
	within := true
	for _, name := range names {
		fields, path := o.fields, o.path
		if name != "" {
			fields, _ = o.fields[name].(map[string]any)
			path = path.Child(name)
		}
		if len(fields) > limit {
			o.Forbidden(path, "%d fields exceed the limit of %d: remove some", len(fields), limit)
			within = false
		}
	}
	return within
}

// take marks a field as known and returns it.
func (o *object) take(name string) (any, bool) {
	o.asked = append(o.asked, name)
	value, ok := o.fields[name]
	return value, ok
}

// typed reads a field of one type. It returns false when the field is missing or has a different type.
func typed[T any](o *object, name, want string) (T, bool) {
	value, given := o.take(name)
	found, ok := value.(T)
	if given && !ok {
		o.Add(wrongType(o.path.Child(name), want, value))
	}
	return found, ok
}

// text reads a string, which must not be empty if it is set.
func (o *object) text(name string) string {
	text, ok := typed[string](o, name, "a string")
	if ok && text == "" {
		o.Empty(o.path.Child(name))
	}
	return text
}

// requiredText reads a string that must be set and not be empty. The error for a missing or empty string contains the
// remedy.
func (o *object) requiredText(name, remedy string) string {
	if value, ok := o.fields[name]; !ok || value == "" {
		o.asked = append(o.asked, name)
		o.Required(o.path.Child(name), "required: %s", remedy)
		return ""
	}
	return o.text(name)
}

// values reads an object. It rejects an object that is nested more than maxDepth levels deep.
func (o *object) values(name string) map[string]any {
	values, _ := typed[map[string]any](o, name, "an object")
	if deeper(values, maxDepth) {
		o.Forbidden(o.path.Child(name), "is nested more than %d levels deep; reduce the nesting", maxDepth)
		return nil
	}
	return values
}

// maxDepth limits the depth of values that become part of the configuration. The configuration is indented by level, so
// the deepest possible JSON would need more memory than the operator has.
const maxDepth = 32

func deeper(value any, levels int) bool {
	tooDeep := func(inner any) bool { return levels == 0 || deeper(inner, levels-1) }
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if tooDeep(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, tooDeep)
	}
	return false
}

// positive reads an integer greater than 0.
func (o *object) positive(name string) *int64 {
	number, ok := typed[json.Number](o, name, "a whole number greater than 0")
	if !ok {
		return nil
	}
	n, err := number.Int64()
	if err != nil || n <= 0 {
		o.Invalid(o.path.Child(name), number.String(), "%s is not a whole number greater than 0", number)
		return nil
	}
	return &n
}

// boolean reads true or false.
func (o *object) boolean(name string) *bool {
	b, ok := typed[bool](o, name, "true or false")
	if !ok {
		return nil
	}
	return &b
}

// texts reads a map of strings.
func (o *object) texts(name string) map[string]string {
	values := o.values(name)
	if values == nil {
		return nil
	}
	texts := make(map[string]string, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		text, ok := values[key].(string)
		if !ok {
			o.Add(wrongType(o.path.Child(name).Key(key), "a string", values[key]))
			continue
		}
		texts[key] = text
	}
	return texts
}

// rest returns the names of the fields that were not read, sorted.
func (o *object) rest() []string {
	var rest []string
	for name := range o.fields {
		if !slices.Contains(o.asked, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	return rest
}

// close reports every field that was not read.
func (o *object) close() {
	for _, name := range o.rest() {
		if o.full() {
			o.Forbidden(o.path.Child(name), "unknown field")
			continue
		}
		o.unknownField(o.path.Child(name), name)
	}
}

// full reports whether the limit on reported errors is reached. Errors beyond the limit are only counted, so they need
// no remedy, which takes time to find.
func (o *object) full() bool { return len(*o.Errors) >= MaxErrors }

func (o *object) unknownField(path *field.Path, name string) {
	if message := suggest.Unknown(path.String()); message != "" {
		o.Forbidden(path, "%s", message)
		return
	}
	if near := nearest(name, o.asked); near != "" {
		o.Forbidden(path, "unknown field; did you mean %q?", near)
		return
	}
	o.Forbidden(path, "unknown field; known fields: %s", o.known())
}

// known returns the names of the fields that were read.
func (o *object) known() string { return strings.Join(slices.Sorted(slices.Values(o.asked)), ", ") }

// nearest returns the known name that is most similar to a name, or an empty string. It recognizes other spellings of a
// name, such as api_key for apiKey.
func nearest(name string, known []string) string {
	plain := strings.NewReplacer("_", "", "-", "").Replace(name)
	for _, k := range known {
		if strings.EqualFold(plain, k) {
			return k
		}
	}
	return suggest.Nearest(name, known)
}

// wrongType returns an error for a value of the wrong type. The error contains the value only if the value is a
// boolean, because any other value may be a misplaced secret. YAML reads an unquoted word such as `y` or `on` as a
// boolean.
func wrongType(path *field.Path, want string, got any) *field.Error {
	detail := "must be " + want + ", got " + kindOf(got)
	switch v := got.(type) {
	case bool:
		detail = fmt.Sprintf("must be %s, got %t", want, v)
		if acceptsText(want) {
			detail += "; quote it if you mean a word such as yes, no, on or off"
		}
	case nil:
		if strings.HasSuffix(path.String(), "]") {
			detail += "; remove the entry"
		} else {
			detail += "; omit the field"
		}
	case json.Number:
		if acceptsText(want) {
			detail += "; quote it"
		}
	case []any:
		if want == "a string" {
			detail += "; write one value, without brackets and without \"-\""
		}
	}
	return field.TypeInvalid(path, field.OmitValueType{}, detail)
}

// acceptsText reports whether the wanted form allows a string. If it does, the user can correct a value by adding
// quotes.
func acceptsText(want string) bool { return want == "a string" || want == nameForm }

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}
