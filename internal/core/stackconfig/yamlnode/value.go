package yamlnode

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	nullTag  = "!!null"
	boolTag  = "!!bool"
	intTag   = "!!int"
	floatTag = "!!float"
	strTag   = "!!str"
	seqTag   = "!!seq"
	mapTag   = "!!map"
)

func scalar(tag, text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
}

// Null returns null.
func Null() *yaml.Node { return scalar(nullTag, "null") }

// Bool returns true or false.
func Bool(b bool) *yaml.Node { return scalar(boolTag, strconv.FormatBool(b)) }

// Int returns a whole number.
func Int(n int64) *yaml.Node { return scalar(intTag, strconv.FormatInt(n, 10)) }

// Map returns an empty mapping.
func Map() *yaml.Node { return &yaml.Node{Kind: yaml.MappingNode, Tag: mapTag} }

// Seq returns a sequence of the given items.
func Seq(items ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: seqTag, Content: items}
}

// String returns a string, in quotes if a reader would read the plain text as a different type, or if a character needs
// an escape.
func String(text string) *yaml.Node {
	node := scalar(strTag, text)
	switch {
	case strings.ContainsFunc(text, needsEscape):
		node.Style = yaml.DoubleQuotedStyle
	case ReadAsOther(text):
		node.Style = yaml.SingleQuotedStyle
	}
	return node
}

// needsEscape reports whether a character is safe only between double quotes. In scalars without double quotes, readers
// fold line breaks of any kind, and control characters are not allowed.
func needsEscape(r rune) bool {
	return r < ' ' || (r >= 0x7f && r <= 0xa0) || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffd
}

// FromJSON returns a node for a decoded JSON value: nil, bool, string, json.Number, float64, an integer, a list or an
// object. The node of an object has its keys in sorted order.
func FromJSON(value any) *yaml.Node {
	switch v := value.(type) {
	case []any:
		list := Seq()
		for _, item := range v {
			list.Content = append(list.Content, FromJSON(item))
		}
		return list
	case map[string]any:
		mapping := Map()
		mapping.Content = make([]*yaml.Node, 0, 2*len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			mapping.Content = append(mapping.Content, String(key), FromJSON(v[key]))
		}
		return mapping
	default:
		return fromScalar(value)
	}
}

func fromScalar(value any) *yaml.Node {
	switch v := value.(type) {
	case nil:
		return Null()
	case bool:
		return Bool(v)
	case json.Number:
		return number(string(v))
	case float64:
		return number(strconv.FormatFloat(v, 'g', -1, 64))
	case int:
		return Int(int64(v))
	case int32:
		return Int(int64(v))
	case int64:
		return Int(v)
	default:
		return String(fmt.Sprint(v))
	}
}

// number returns a JSON number in a form that YAML 1.1 also reads as a number: YAML 1.1 supports 1.5e+5 but not 1e5. If
// a fraction or a number with an exponent is outside the range of float64, it returns a string.
func number(text string) *yaml.Node {
	if !strings.ContainsAny(text, ".eE") {
		return scalar(intTag, text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return String(text)
	}
	if !strings.ContainsAny(text, "eE") {
		return scalar(floatTag, text)
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return scalar(floatTag, strconv.FormatFloat(f, 'f', 1, 64))
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	return scalar(floatTag, mantissa+"e"+exponent)
}
