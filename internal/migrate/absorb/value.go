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

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// object is a mapping in a configuration, with JSON values: nil, bool, string, json.Number, []any, object.
type object = map[string]any

// opaque is a scalar that this package does not convert to a JSON value, such as a date or 12:30:00. YAML 1.1, which
// the server uses, does not read such a scalar as a string.
type opaque string

// These patterns match numbers that have the same value in YAML 1.1 and YAML 1.2.
var (
	wholeNumber = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	fraction    = regexp.MustCompile(`^[-+]?[0-9]+\.[0-9]*([eE][-+][0-9]+)?$`)
)

// words are plain scalars that YAML 1.1 does not read as strings.
var words = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"true": true, "True": true, "TRUE": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"false": false, "False": false, "FALSE": false, "no": false, "No": false, "NO": false, "off": false, "Off": false,
	"OFF": false,
}

// valueOf returns the value that the server reads from a tree. It returns an error for a key that is not a string.
func valueOf(node *yaml.Node) (any, error) {
	switch node.Kind {
	case yaml.MappingNode:
		return mappingOf(node.Content)
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

// mappingOf returns the object with the keys and values of a mapping.
func mappingOf(content []*yaml.Node) (any, error) {
	values := make(object, len(content)/2)
	for i := 0; i+1 < len(content); i += 2 {
		key, isText := scalarOf(content[i]).(string)
		if !isText {
			return nil, fmt.Errorf("line %d: the key %q is not a string; quote it", content[i].Line, content[i].Value)
		}
		value, err := valueOf(content[i+1])
		if err != nil {
			return nil, err
		}
		values[key] = value
	}
	return values, nil
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

// plainValue returns the value of a plain scalar in YAML 1.1.
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

// number returns a fraction in normal form. An API server stores 1.0 as 1, so the result must be the same for both.
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

// whole returns an integer in the form that valueOf returns.
func whole(number int) json.Number { return json.Number(strconv.Itoa(number)) }

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

// at returns the value at a path of keys in nested objects, or nil if a key is missing.
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

// clone returns a deep copy of the value.
func clone(value any) any { return mapped(value, func(scalar any) any { return scalar }) }

// asJSON returns a value for a field of the spec. Values without a JSON form become strings. The later comparison
// reports these values.
func asJSON(value any) any {
	return mapped(value, func(scalar any) any {
		if text, ok := scalar.(opaque); ok {
			return string(text)
		}
		return scalar
	})
}

// mapped returns a deep copy of a value, with the result of a function in place of each scalar.
func mapped(value any, replace func(any) any) any {
	switch v := value.(type) {
	case object:
		copied := make(object, len(v))
		for key := range v {
			copied[key] = mapped(v[key], replace)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = mapped(v[i], replace)
		}
		return copied
	default:
		return replace(value)
	}
}

// hasNull reports whether a value is null or contains null.
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

// texts calls a function for each string in a value.
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
