package intent

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Message is what a user reads: the field path and the detail, which stands for
// itself. The type that field.Error writes in between ("Forbidden", "Invalid
// value") would say it twice.
func Message(err *field.Error) string {
	if err.Detail == "" {
		return err.Error()
	}
	if err.Field == "" || err.Field == "<nil>" {
		return err.Detail
	}
	return err.Field + ": " + err.Detail
}

// MaxErrors is how many errors are told at once. A spec may have as many as it has
// values; a user mends the first ones and looks again, and a status holds no more.
const MaxErrors = 100

// Bounded returns the first MaxErrors of a list, each once, and how many more there
// are.
func Bounded(errs field.ErrorList) field.ErrorList {
	type told struct{ path, detail string }
	seen := make(map[told]bool, len(errs))
	var first field.ErrorList
	for _, err := range errs {
		one := told{err.Field, err.Detail}
		if seen[one] {
			continue
		}
		seen[one] = true
		if len(seen) <= MaxErrors {
			first = append(first, err)
		}
	}
	if more := len(seen) - MaxErrors; more > 0 {
		first = append(first, &field.Error{
			Type: field.ErrorTypeTooMany, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf("and %d more errors", more),
		})
	}
	return first
}

// Messages are the messages of a list, one a line, each once.
func Messages(errs field.ErrorList) string {
	lines, seen := make([]string, 0, len(errs)), make(map[string]bool, len(errs))
	for _, err := range errs {
		if line := Message(err); !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
