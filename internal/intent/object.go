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

	"github.com/llamastack/llama-stack-k8s-operator/internal/suggest"
)

// decodeJSON reads one JSON value; numbers stay as they were written.
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

// object reads the fields of one JSON object strictly: a field of the wrong type
// is an error, and so is every field nobody asked for.
type object struct {
	path   *field.Path
	fields map[string]any
	asked  []string
	errs   *field.ErrorList
}

// newObject takes a JSON object; anything else is an error that says what was
// wanted.
func newObject(value any, path *field.Path, want string, errs *field.ErrorList) (*object, bool) {
	fields, ok := value.(map[string]any)
	if !ok {
		*errs = append(*errs, wrongType(path, want, value))
		return nil, false
	}
	return &object{path: path, fields: fields, errs: errs}, true
}

// atMost reports whether objects have no more fields than a limit; one that has is an error. A name is that of an inner
// object, empty for the object itself.
func (o *object) atMost(limit int, names ...string) bool {
	within := true
	for _, name := range names {
		fields, path := o.fields, o.path
		if name != "" {
			fields, _ = o.fields[name].(map[string]any)
			path = path.Child(name)
		}
		if len(fields) > limit {
			o.fail(field.Forbidden(path, fmt.Sprintf("%d fields are more than the %d that may be given: remove some", len(fields), limit)))
			within = false
		}
	}
	return within
}

func (o *object) fail(err *field.Error) { *o.errs = append(*o.errs, err) }

// take marks a field as known and returns it.
func (o *object) take(name string) (any, bool) {
	o.asked = append(o.asked, name)
	value, ok := o.fields[name]
	return value, ok
}

// text reads a string that is not empty where given.
func (o *object) text(name string) string {
	value, ok := o.take(name)
	if !ok {
		return ""
	}
	text, ok := value.(string)
	switch {
	case !ok:
		o.fail(wrongType(o.path.Child(name), "a string", value))
	case text == "":
		o.fail(empty(o.path.Child(name)))
	}
	return text
}

// requiredText is text that must be given.
func (o *object) requiredText(name, remedy string) string {
	if _, ok := o.fields[name]; !ok {
		o.asked = append(o.asked, name)
		o.fail(field.Required(o.path.Child(name), "required: "+remedy))
		return ""
	}
	return o.text(name)
}

// values reads an object that is passed on as it is.
func (o *object) values(name string) map[string]any {
	value, ok := o.take(name)
	if !ok {
		return nil
	}
	values, ok := value.(map[string]any)
	if !ok {
		o.fail(wrongType(o.path.Child(name), "an object", value))
		return nil
	}
	if deeper(values, maxDepth) {
		o.fail(field.Forbidden(o.path.Child(name), fmt.Sprintf("is nested deeper than %d levels", maxDepth)))
		return nil
	}
	return values
}

// maxDepth bounds values that are passed on: each level is indented in the
// configuration, so that the deepest JSON there is would fill the memory.
const maxDepth = 32

func deeper(value any, levels int) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if levels == 0 || deeper(inner, levels-1) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if levels == 0 || deeper(inner, levels-1) {
				return true
			}
		}
	}
	return false
}

// positive reads an integer above 0.
func (o *object) positive(name string) *int64 {
	value, ok := o.take(name)
	if !ok {
		return nil
	}
	number, ok := value.(json.Number)
	if !ok {
		o.fail(wrongType(o.path.Child(name), "a whole number above 0", value))
		return nil
	}
	n, err := number.Int64()
	if err != nil || n <= 0 {
		o.fail(field.Invalid(o.path.Child(name), number.String(), number.String()+" is not a whole number above 0; write one"))
		return nil
	}
	return &n
}

// boolean reads true or false.
func (o *object) boolean(name string) *bool {
	value, ok := o.take(name)
	if !ok {
		return nil
	}
	b, ok := value.(bool)
	if !ok {
		o.fail(wrongType(o.path.Child(name), "true or false", value))
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
			o.fail(wrongType(o.path.Child(name).Key(key), "a string", values[key]))
			continue
		}
		texts[key] = text
	}
	return texts
}

// rest are the names of the fields nobody asked for, sorted.
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

// close reports every field nobody asked for.
func (o *object) close() {
	for _, name := range o.rest() {
		if o.full() {
			o.fail(field.Forbidden(o.path.Child(name), "unknown field"))
			continue
		}
		o.fail(unknownField(o.path.Child(name), name, o.asked))
	}
}

// full reports whether there are more errors already than anybody is told, so that none needs a remedy, which takes time
// to find.
func (o *object) full() bool { return len(*o.errs) >= MaxErrors }

func unknownField(path *field.Path, name string, known []string) *field.Error {
	if near := nearest(name, known); near != "" {
		return field.Forbidden(path, fmt.Sprintf("unknown field, did you mean %q?", near))
	}
	return field.Forbidden(path, "unknown field; known are "+strings.Join(slices.Sorted(slices.Values(known)), ", "))
}

// nearest also sees through another way to write a name: api_key is apiKey.
func nearest(name string, known []string) string {
	plain := strings.NewReplacer("_", "", "-", "").Replace(name)
	for _, k := range known {
		if strings.EqualFold(plain, k) {
			return k
		}
	}
	return suggest.Nearest(name, known)
}

// wrongType never shows a value: it may be a secret in the wrong place. A bool
// is shown, because it is what an unquoted word such as y or on turns into.
func wrongType(path *field.Path, want string, got any) *field.Error {
	detail := "must be " + want + ", got " + kindOf(got)
	switch v := got.(type) {
	case bool:
		detail = fmt.Sprintf("must be %s, got %t; quote it if a word such as yes, no, on or off is meant", want, v)
	case nil:
		detail += "; leave the field out"
	case json.Number:
		if want == "a string" {
			detail += "; quote it"
		}
	}
	return field.TypeInvalid(path, field.OmitValueType{}, detail)
}

func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a bool"
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

func empty(path *field.Path) *field.Error {
	return field.Required(path, "must not be empty; leave the field out to have the default")
}
