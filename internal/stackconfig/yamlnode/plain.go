package yamlnode

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// otherThanText matches what YAML 1.1 (PyYAML's resolver) reads as something else
// than a string: numbers in any base, sexagesimals (12:30:00), floats, dates and
// times. What YAML 1.2 reads so is asked of the library.
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

// ReadAsOther says whether plain text would not be read as that very string:
// empty, null, a bool in one of YAML 1.1's many words, a number, a date, the
// value key "=", the merge key "<<".
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
