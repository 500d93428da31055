package convert

import (
	"strings"
)

var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)

// roomForPointer is the size in bytes that is enough for most pointers.
const roomForPointer = 128

// pointer returns a path as a JSON pointer.
func pointer(p path) string {
	b := make([]byte, 0, roomForPointer)
	for _, step := range p {
		b = append(append(b, '/'), escapePointer.Replace(step)...)
	}
	return string(b)
}

// parsePointer parses the path of a loss, which begins with `annotations` or `spec`. It returns false for any other
// text, and for a path with more than maxSteps steps.
func parsePointer(text string) (path, bool) {
	steps := strings.Split(text, "/")
	if len(steps) < 2 || len(steps) > maxSteps+1 || steps[0] != "" || (steps[1] != annotations && steps[1] != spec) {
		return nil, false
	}
	p := make(path, 0, len(steps)-1)
	for _, step := range steps[1:] {
		p = append(p, unescapePointer.Replace(step))
	}
	return p, true
}
