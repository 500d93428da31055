package absorb

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// object is a mapping of a configuration, with the values as JSON has them: nil, bool, string, json.Number, []any, object.
type object = map[string]any

// opaque is plain text that YAML 1.1, which the server reads, takes for something that JSON has no form for: a date, 12:30:00.
type opaque string

// The numbers that YAML 1.1 and 1.2 read as the same.
var (
	wholeNumber = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	fraction    = regexp.MustCompile(`^[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?$`)
)

// words are plain texts that YAML 1.1 reads as no text.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"true": true, "True": true, "TRUE": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"false": false, "False": false, "FALSE": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// valueOf is what the server reads from a tree. A key that is no text is an error.
func valueOf(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.MappingNode:
		values := make(object, len(node.Content)/2)
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, isText := scalarOf(node.Content[i]).(string)
			if !isText {
				return nil, fmt.Errorf("line %d: the key %q is no text; quote it", node.Content[i].Line, node.Content[i].Value)
			}
			value, err := valueOf(node.Content[i+1])
			if err != nil {
				return nil, err
			}
			values[key] = value
		}
		return values, nil
	case yaml.SequenceNode:
		list := make([]any, 0, len(node.Content))
		for _, item := range node.Content {
			value, err := valueOf(item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	default:
		return scalarOf(node), nil
	}
}

func scalarOf(node *yaml.Node) any {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case node.Style&yaml.TaggedStyle != 0 && node.ShortTag() != "!!str":
		return opaque(node.ShortTag() + " " + node.Value)
	case node.Style&(quoted|yaml.TaggedStyle) != 0:
		return node.Value
	default:
		return plainValue(node.Value)
	}
}

// plainValue is what YAML 1.1 reads from plain text.
func plainValue(text string) any {
	if value, known := words[text]; known {
		return value
	}
	switch {
	case wholeNumber.MatchString(text):
		return json.Number(trimSign(text))
	case fraction.MatchString(text):
		return number(text)
	case slices.Contains([]string{"y", "Y", "n", "N"}, text) || !yamlnode.ReadAsOther(text):
		return text
	default:
		return opaque(text)
	}
}

func trimSign(text string) string {
	if text[0] == '+' || text == "-0" {
		return text[1:]
	}
	return text
}

// number spells a fraction in one way. An API server stores 1.0 as 1, so that the two are one number.
func number(text string) any {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return opaque(text)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return json.Number(strconv.FormatInt(int64(f), 10))
	default:
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
	}
}

// whole is a number as valueOf gives it.
func whole(number int) json.Number { return json.Number(strconv.Itoa(number)) }

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// at follows keys through nested objects; nil when one is missing.
func at(value any, keys ...string) any {
	for _, key := range keys {
		inner, _ := value.(object)
		value = inner[key]
	}
	return value
}

func objectAt(value any, keys ...string) object {
	found, _ := at(value, keys...).(object)
	return found
}

func listAt(value any, keys ...string) []any {
	found, _ := at(value, keys...).([]any)
	return found
}

func textAt(value any, keys ...string) string {
	found, _ := at(value, keys...).(string)
	return found
}

// clone is a copy that shares nothing with the value.
func clone(value any) any {
	switch v := value.(type) {
	case object:
		copied := make(object, len(v))
		for key := range v {
			copied[key] = clone(v[key])
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = clone(v[i])
		}
		return copied
	default:
		return value
	}
}

// asJSON is a value that a field of the spec takes. What JSON has no form for becomes text; the comparison tells of it.
func asJSON(value any) any {
	switch v := value.(type) {
	case object:
		copied := make(object, len(v))
		for key := range v {
			copied[key] = asJSON(v[key])
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = asJSON(v[i])
		}
		return copied
	case opaque:
		return string(v)
	default:
		return value
	}
}

// hasNull reports whether a value is null or holds null.
func hasNull(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case object:
		for key := range v {
			if hasNull(v[key]) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}

// texts calls a function for each text of a value.
func texts(value any, visit func(string)) {
	switch v := value.(type) {
	case object:
		for key := range v {
			texts(v[key], visit)
		}
	case []any:
		for _, item := range v {
			texts(item, visit)
		}
	case string:
		visit(v)
	}
}
