package intent

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Message returns the text of an error for users: the field path and the detail. It omits the type that field.Error
// writes between them ("Forbidden", "Invalid value"), because the detail contains the same information. For an error
// without a detail, it returns the whole text of the error.
func Message(err *field.Error) string {
	if err.Detail == "" {
		return err.Error()
	}
	if err.Field == "" || err.Field == "<nil>" {
		return err.Detail
	}
	return err.Field + ": " + err.Detail
}

// MaxErrors is the maximum number of errors that are reported at once. Every value in a spec can have an error, and the
// status has no room for that many errors. A user can fix the first errors and validate the spec again.
const MaxErrors = 100

// Bounded returns the first MaxErrors errors of a list, without duplicates. If there are more, it appends an error that
// states how many errors it omits.
func Bounded(errs field.ErrorList) field.ErrorList {
	type told struct{ path, detail string }
	seen := make(map[told]bool, len(errs))
	var first field.ErrorList
	for _, err := range withoutFollowers(errs, Message) {
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
			Type: field.ErrorTypeTooMany, BadValue: field.OmitValueType{}, Detail: fmt.Sprintf("and %d more", more),
		})
	}
	return first
}

// WithoutFollowers returns the texts of errors without those that only follow from another one: that a field is
// missing, if its value has an error, or if the user wrote its value into an unknown field.
func WithoutFollowers(texts []string) []string {
	return withoutFollowers(texts, func(text string) string { return text })
}

var (
	missing   = regexp.MustCompile(`^(required|set either |"" is not )`)
	suggested = regexp.MustCompile(`^unknown field; did you mean (?:"([^"]+)"|(spec\.\S+))\?`)
)

func withoutFollowers[T any](errs []T, text func(T) string) []T {
	set := map[string]bool{}
	for _, err := range errs {
		path, message, _ := strings.Cut(text(err), ": ")
		object := path[:max(strings.LastIndex(path, "."), 0)]
		found := suggested.FindStringSubmatch(message)
		switch {
		case found != nil && found[1] != "":
			set[object+"."+found[1]] = true
		case found != nil:
			set[found[2]] = true
		case strings.Contains(message, "space after the colon"):
			set[object] = true
		case strings.HasPrefix(message, "unknown field, which only v1alpha1 has"):
			set["spec.distribution"] = true
		case !missing.MatchString(message):
			set[path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(errs), func(err T) bool {
		path, message, _ := strings.Cut(text(err), ": ")
		return set[path] && missing.MatchString(message)
	})
}

// BoundedTexts returns the first MaxErrors texts of a list. If there are more, the last text states how many texts it
// omits.
func BoundedTexts(texts []string) []string {
	if more := len(texts) - MaxErrors; more > 0 {
		return append(texts[:MaxErrors:MaxErrors], fmt.Sprintf("and %d more", more))
	}
	return texts
}

// maxListed is the maximum number of names that a message lists.
const maxListed = 20

// Listed joins names for a message.
func Listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Messages returns the messages of the errors in a list, one per line, without duplicates.
func Messages(errs field.ErrorList) string {
	lines, seen := make([]string, 0, len(errs)), make(map[string]bool, len(errs))
	for _, err := range withoutFollowers(errs, Message) {
		if line := Message(err); !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
