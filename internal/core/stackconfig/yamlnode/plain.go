package yamlnode

import (
	"bytes"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// otherThanText matches text that YAML 1.1 (PyYAML's resolver) does not read as a string: numbers in any base,
// sexagesimals (12:30:00), floats, dates and times. For YAML 1.2, ReadAsOther uses the YAML library.
var otherThanText = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`[-+]?0b[0-1_]+`,
	`[-+]?0[xX][0-9a-fA-F_]+`,
	`[-+]?0?o?[0-7_]+`,
	`[-+]?[0-9][0-9_]*`,
	`[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?`,
	`[-+]?(?:[0-9][0-9_]*)?\.?[0-9_]*(?:[eE][-+]?[0-9]+)?`,
	`[-+]?\.(?:inf|Inf|INF)`,
	`\.(?:nan|NaN|NAN)`,
	`[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9].*)?`,
}, "|") + `)$`)

// ReadAsOther reports whether a YAML reader could read text without quotes as anything other than the same string. Such
// strings are the empty string, null, the words for a boolean in YAML 1.1, numbers, dates, the value key "=" and the
// merge key "<<".
func ReadAsOther(text string) bool {
	switch strings.ToLower(text) {
	case "", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<":
		return true
	}
	c := text[0]
	if c != '-' && c != '+' && c != '.' && c != '_' && (c < '0' || c > '9') {
		return false
	}
	if otherThanText.MatchString(text) {
		return true
	}
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: text}
	return bare.ShortTag() != strTag
}

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
