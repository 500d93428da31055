package intent

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Errors collects the errors in a spec, in the order in which they are found.
type Errors field.ErrorList

// Add adds errors.
func (e *Errors) Add(errs ...*field.Error) { *e = append(*e, errs...) }

// Invalid adds an error for a value that its field does not accept.
func (e *Errors) Invalid(path *field.Path, value any, format string, args ...any) {
	e.Add(field.Invalid(path, value, fmt.Sprintf(format, args...)))
}

// InvalidText adds an error for a string that its field does not accept. The detail begins with the quoted string.
func (e *Errors) InvalidText(path *field.Path, text, format string, args ...any) {
	e.Invalid(path, text, "%q "+format, append([]any{text}, args...)...)
}

// Forbidden adds an error for a field or a value that is not allowed.
func (e *Errors) Forbidden(path *field.Path, format string, args ...any) {
	e.Add(field.Forbidden(path, fmt.Sprintf(format, args...)))
}

// Required adds an error for a missing field.
func (e *Errors) Required(path *field.Path, format string, args ...any) {
	e.Add(field.Required(path, fmt.Sprintf(format, args...)))
}

// Empty adds an error for a field that is set but empty.
func (e *Errors) Empty(path *field.Path) {
	e.Required(path, "must not be empty; omit the field to use the default")
}

// OneOf checks that a value, if it is set, is one of the known values.
func OneOf[T ~string](e *Errors, path *field.Path, value T, known ...T) {
	if value == "" || slices.Contains(known, value) {
		return
	}
	words := make([]string, len(known))
	for i, k := range known {
		words[i] = string(k)
	}
	e.Invalid(path, value, "%q is not a known value: use one of %s", value, strings.Join(words, ", "))
}
