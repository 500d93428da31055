package schema

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
)

// valueKind is what the server's YAML reader makes of a node.
type valueKind int

const (
	valueNull valueKind = iota
	valueBool
	valueInt
	valueFloat
	valueString
	valueReference // a string with ${env.…}; what it becomes is known at start only
	valueTimestamp
	valueList
	valueMapping
	valueUnknown // an alias, or no node of a document
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

// The plain scalars that a YAML 1.1 reader does not take as strings. The Go reader follows YAML 1.2, where `yes`, `012`
// and `1:30` mean something else.
var (
	plainNull      = regexp.MustCompile(`^(?:~|null|Null|NULL|)$`)
	plainBool      = regexp.MustCompile(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)
	plainInt       = regexp.MustCompile(`^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0|[1-9][0-9_]*|[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	plainFloat     = regexp.MustCompile(`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	plainTimestamp = regexp.MustCompile(`^[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:(?:[Tt]|[ \t]+)[0-9][0-9]?:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9][0-9]?(?::[0-9]{2})?))?)?$`)
)

const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// kindOf tells what the server's reader makes of a node once it is written.
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

// mayBeOther reports whether a plain scalar can be anything but a string, by its first character and its length: most of a
// config is names, and need not be matched against every number there is.
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

// writtenQuoted reports whether the encoder puts quotes around a scalar without quotes, because it is tagged as a string
// and would be read as something else.
func writtenQuoted(node *yaml.Node) bool {
	const str = "!!str"
	if node.Tag != str {
		return false
	}
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: node.Value}
	return bare.ShortTag() != str
}

// plainKind tells what a YAML 1.1 reader makes of a scalar without quotes.
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

// IsPlainString reports whether a string without quotes is read as that string by the server, which follows YAML 1.1, and
// by readers of YAML 1.2. (What YAML's own syntax forbids in plain text, such as a leading `*`, is the encoder's care.)
func IsPlainString(value string) bool {
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: value}
	// A bare `=` has a type of its own in YAML 1.1, which the server's reader refuses.
	return value != "=" && plainKind(value) == valueString && bare.ShortTag() == "!!str"
}
