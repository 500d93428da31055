package intent

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Errors collects what is wrong with a spec, in the order in which it is found.
type Errors field.ErrorList

// Add takes errors over.
func (e *Errors) Add(errs ...*field.Error) { *e = append(*e, errs...) }

// Invalid notes a value that its field does not take.
func (e *Errors) Invalid(path *field.Path, value any, format string, args ...any) {
	e.Add(field.Invalid(path, value, fmt.Sprintf(format, args...)))
}

// InvalidText is Invalid for a text. The detail begins with it, in quotes.
func (e *Errors) InvalidText(path *field.Path, text, format string, args ...any) {
	e.Invalid(path, text, "%q "+format, append([]any{text}, args...)...)
}

// Forbidden notes what may not be where it is.
func (e *Errors) Forbidden(path *field.Path, format string, args ...any) {
	e.Add(field.Forbidden(path, fmt.Sprintf(format, args...)))
}

// Required notes what is missing.
func (e *Errors) Required(path *field.Path, format string, args ...any) {
	e.Add(field.Required(path, fmt.Sprintf(format, args...)))
}

// Empty notes what is given and has nothing in it.
func (e *Errors) Empty(path *field.Path) {
	e.Required(path, "must not be empty; leave the field out to have the default")
}
