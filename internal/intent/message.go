package intent

import (
	"slices"
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

// Messages are the messages of a list, one a line, each once.
func Messages(errs field.ErrorList) string {
	var lines []string
	for _, err := range errs {
		if line := Message(err); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
