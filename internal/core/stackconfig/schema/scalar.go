package schema

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
)

// valueKind is the kind of value that the server's YAML reader produces for a node.
type valueKind int

const (
	valueNull valueKind = iota
	valueBool
	valueInt
	valueFloat
	valueString
	valueReference // a string with ${env.…}; its value is known only at startup
	valueTimestamp
	valueList
	valueMapping
	valueUnknown // an alias, or not a node in a document
)

var valueNames = map[valueKind]string{
	valueNull:      "null",
	valueBool:      "true or false",
	valueInt:       "a whole number",
	valueFloat:     "a number",
	valueString:    "text",
	valueReference: "a variable, which is always text",
	valueTimestamp: "a date",
	valueList:      "a list",
	valueMapping:   "a mapping",
	valueUnknown:   "an unknown value",
}

// These expressions match the plain scalars that a YAML 1.1 reader does not read as strings. The Go reader follows YAML
// 1.2, where `yes`, `012` and `1:30` have a different meaning.
var (
	plainNull      = regexp.MustCompile(`^(?:~|null|Null|NULL|)$`)
	plainBool      = regexp.MustCompile(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)
	plainInt       = regexp.MustCompile(`^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*|[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	plainFloat     = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	plainTimestamp = regexp.MustCompile(`^[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?)?$`)
)

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// kindOf returns the kind of value that the server's YAML parser produces from the encoded node.
func kindOf(node *yaml.Node) valueKind {
	switch node.Kind {
	case yaml.MappingNode:
		return valueMapping
	case yaml.SequenceNode:
		return valueList
	case yaml.ScalarNode:
		return scalarKind(node)
	case yaml.DocumentNode, yaml.AliasNode:
	}
	return valueUnknown
}

func scalarKind(node *yaml.Node) valueKind {
	if envref.In(node.Value) {
		return valueReference
	}
	if node.Style&quoted != 0 || !mayBeOther(node.Value) || strings.Contains(node.Value, "\n") || writtenQuoted(node) {
		return valueString
	}
	return plainKind(node.Value)
}

// mayBeOther uses the first character and the length to report whether a plain scalar can be anything other than a
// string. Most values in a configuration are names, which then need not be compared with all forms of numbers.
func mayBeOther(value string) bool {
	if value == "" {
		return true
	}
	switch value[0] {
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '-', '.', '~', '<', '=':
		return true
	case 'n', 'N', 'y', 'Y', 't', 'T', 'f', 'F', 'o', 'O':
		return len(value) <= len("false")
	}
	return false
}

// writtenQuoted reports whether the encoder adds quotes to a scalar without quotes. It adds quotes if the scalar has
// the string tag and a reader would otherwise read it as a different type.
func writtenQuoted(node *yaml.Node) bool {
	const str = "!!str"
	if node.Tag != str {
		return false
	}
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: node.Value}
	return bare.ShortTag() != str
}

// plainKind returns the kind of value that a YAML 1.1 reader produces for a scalar without quotes.
func plainKind(value string) valueKind {
	switch {
	case plainNull.MatchString(value):
		return valueNull
	case plainBool.MatchString(value):
		return valueBool
	case plainInt.MatchString(value):
		return valueInt
	case plainFloat.MatchString(value):
		return valueFloat
	case plainTimestamp.MatchString(value):
		return valueTimestamp
	}
	return valueString
}

// IsPlainString reports whether both the server, which follows YAML 1.1 (server fact 3), and readers of YAML 1.2 read
// text without quotes as the same string. The encoder handles text that YAML syntax does not allow without quotes, such
// as text with a leading `*`.
func IsPlainString(value string) bool {
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: value}
	// A bare `=` has its own type in YAML 1.1, which the server's reader rejects.
	return value != "=" && plainKind(value) == valueString && bare.ShortTag() == "!!str"
}
