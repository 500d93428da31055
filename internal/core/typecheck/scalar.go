package typecheck

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// scalar checks text, numbers and booleans. A problem contains the value where a number or a boolean is expected, but
// not where text is expected, because the value of a text field can be a secret.
func (c *checker) scalar(value any, typ reflect.Type, path string) (any, bool) {
	number, isNumber := value.(json.Number)
	switch typ.Kind() {
	case reflect.String:
		if _, ok := value.(string); ok {
			return value, true
		}
		return c.wrong(path, "must be text, got %s%s", kindOf(value), quoteIt(value))
	case reflect.Bool:
		if _, ok := value.(bool); ok {
			return value, true
		}
		return c.wrong(path, "must be true or false, got %s", abbreviated(value))
	case reflect.Float32, reflect.Float64:
		if _, err := strconv.ParseFloat(number.String(), typ.Bits()); isNumber && err == nil {
			return value, true
		}
		return c.wrong(path, "must be a number, got %s", abbreviated(value))
	default:
		if isNumber && fits(number, typ) {
			return value, true
		}
		want := "a whole number"
		if isNumber && !strings.ContainsAny(number.String(), ".eE") {
			want += " " + rangeOf(typ)
		}
		return c.wrong(path, "must be %s, got %s%s", want, abbreviated(value), withoutQuotes(value))
	}
}

// fits reports whether a number is a whole number within the range of its type.
func fits(number json.Number, typ reflect.Type) bool {
	var err error
	if isUnsigned(typ) {
		_, err = strconv.ParseUint(number.String(), 10, typ.Bits())
	} else {
		_, err = strconv.ParseInt(number.String(), 10, typ.Bits())
	}
	return err == nil
}

// rangeOf describes the range of an integer type, for example "from 0 to 255".
func rangeOf(typ reflect.Type) string {
	if isUnsigned(typ) {
		return fmt.Sprintf("from 0 to %d", uint64(math.MaxUint64)>>(64-typ.Bits()))
	}
	most := int64(math.MaxInt64) >> (64 - typ.Bits())
	return fmt.Sprintf("from %d to %d", -most-1, most)
}

func isUnsigned(typ reflect.Type) bool {
	return slices.Contains([]reflect.Kind{reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64},
		typ.Kind())
}

// special checks a value whose type has its own decoder.
func (c *checker) special(value any, typ reflect.Type, path string) (any, bool) {
	data, err := json.Marshal(value)
	if problems := Costly(data, typ); len(problems) > 0 {
		return c.wrong(path, "%s", problems[0].Message)
	}
	if err == nil && json.Unmarshal(data, reflect.New(typ).Interface()) == nil {
		return value, true
	}
	switch typ {
	case reflect.TypeFor[resource.Quantity]():
		return c.wrong(path, "%s is not a quantity: write a quantity such as 10Gi, 500m or 2", abbreviated(value))
	case reflect.TypeFor[intstr.IntOrString]():
		return c.wrong(path, "must be a whole number or text such as 50%%, got %s", abbreviated(value))
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return c.wrong(path, "must be a time such as 2006-01-02T15:04:05Z, got %s", abbreviated(value))
	default:
		return c.wrong(path, "must not be %s: see the API reference for the accepted values", kindOf(value))
	}
}

// maxText is the maximum length of a string that an error repeats.
const maxText = 40

func abbreviated(value any) string {
	switch v := value.(type) {
	case string:
		if runes := []rune(v); len(runes) > maxText {
			v = string(runes[:maxText-1]) + "…"
		}
		return strconv.Quote(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	default:
		return kindOf(value)
	}
}

func quoteIt(value any) string {
	switch value.(type) {
	case json.Number, bool:
		return "; quote it"
	default:
		return ""
	}
}

func withoutQuotes(value any) string {
	if text, ok := value.(string); ok {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return "; write it without quotes"
		}
	}
	return ""
}

func kindOf(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "null"
	}
}

// outline describes the form of an object, with its fields if there are at most two, for example {secretKeyRef: {name:
// …, key: …}}.
func outline(typ reflect.Type) string {
	typ = pointed(typ)
	if typ.Kind() != reflect.Struct || typ.NumField() > 2 || reflect.PointerTo(typ).Implements(unmarshaler) {
		return "an object"
	}
	var parts []string
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := "…"
		if field.Type.Kind() == reflect.Struct {
			if inner = outline(field.Type); inner == "an object" {
				inner = "{…}"
			}
		}
		parts = append(parts, name+": "+inner)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// oneLevelDeeper returns the part of a message that names the fields to move one level deeper, into the only field of
// the object. For example, the name and the key of a Secret reference belong below secretKeyRef. It returns an empty
// string for any other mistake.
func oneLevelDeeper(fields map[string]any, typ reflect.Type) string {
	if typ.NumField() != 1 || typ.Field(0).Type.Kind() != reflect.Struct || len(fields) == 0 {
		return ""
	}
	inner := FieldsOf(typ.Field(0).Type)
	var found []string
	for name := range fields {
		if _, ok := inner[name]; !ok {
			return ""
		}
		found = append(found, name)
	}
	slices.Sort(found)
	if len(found) == 1 {
		return found[0] + " belongs"
	}
	return fmt.Sprintf("%s and %s belong", strings.Join(found[:len(found)-1], ", "), found[len(found)-1])
}
