package convert

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// pointer returns a path as a JSON pointer.
func pointer(p path) (found jsontext.Pointer) {
	for _, step := range p {
		found = found.AppendToken(step)
	}
	return found
}

// parsePointer parses the path of a loss, which begins with `annotations` or `spec`. It returns false for any other
// text, and for a path with more than maxSteps steps.
func parsePointer(text jsontext.Pointer) (path, bool) {
	p := path(slices.Collect(text.Tokens()))
	return p, text.IsValid() && len(p) > 0 && len(p) <= maxSteps && (p[0] == annotations || p[0] == spec)
}
