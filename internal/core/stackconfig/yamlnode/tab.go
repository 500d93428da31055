package yamlnode

import (
	"bytes"
	"strings"
)

// TabLine returns the number of the first line that is indented with a tab, counted from 1. It returns 0 if there is no
// such line, or if the YAML decoder's error is not caused by a tab. TabLine checks the error, because a tab in a block
// scalar is valid.
func TabLine(data []byte, err error) int {
	message := err.Error()
	if !strings.Contains(message, "tab character") && !strings.Contains(message, "cannot start any token") {
		return 0
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		text := bytes.TrimLeft(line, " \t")
		if len(text) > 0 && bytes.ContainsRune(line[:len(line)-len(text)], '\t') {
			return i + 1
		}
	}
	return 0
}
