package typecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/quantity"
)

// Unmarshal decodes JSON into the value that `into` points to. Unlike json.Unmarshal, it takes little time for any
// quantity: it returns an error for a quantity that must not be parsed.
func Unmarshal(data []byte, into any) error {
	if problems := Costly(data, reflect.TypeOf(into)); len(problems) > 0 {
		return errors.New(problems[0].String())
	}
	return json.Unmarshal(data, into)
}

// Costly returns the quantities in a JSON text that must not be parsed, when the text is decoded into a type. It
// compares names like encoding/json, which ignores case. It ignores errors in the text, because a decoder reports them.
func Costly(data []byte, typ reflect.Type) []Problem {
	if !mayBeCostly(data) {
		return nil
	}
	w := walk{Decoder: json.NewDecoder(bytes.NewReader(data))}
	w.UseNumber()
	w.value(typ, "")
	return w.problems
}

// mayBeCostly reports whether a text contains a long row of digits, an exponent with more digits than a quantity may
// have, or an escaped digit. Most texts contain none of these.
func mayBeCostly(data []byte) bool {
	row, exponent := 0, 0 // the numbers of digits since the last other character, and since the last exponent
	for i, c := range data {
		switch {
		case c >= '0' && c <= '9' || c == '.':
			row++
			if exponent > 0 {
				exponent++
			}
		case (c == 'e' || c == 'E') && row > 0:
			row, exponent = 0, 1
		case (c == '-' || c == '+') && exponent == 1:
		case c == '\\' && i+1 < len(data) && data[i+1] == 'u':
			return true
		default:
			row, exponent = 0, 0
		}
		if exponent > 4 || row > quantity.MaxLength-1 {
			return true
		}
	}
	return false
}

// walk reads the tokens of a JSON text along with a type.
type walk struct {
	*json.Decoder
	problems []Problem
}

// value reads one value. The type is nil for a value whose type contains no quantities. It returns false at the end of
// the text or at an error.
func (w *walk) value(typ reflect.Type, path string) bool {
	token, err := w.Token()
	if err != nil {
		return false
	}
	if typ != nil {
		typ = pointed(typ)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return w.members(typ, path)
		}
		return w.items(typ, path)
	case string, json.Number:
		if typ == reflect.TypeFor[resource.Quantity]() {
			if err := quantity.Check(fmt.Sprint(token)); err != nil {
				w.problems = append(w.problems, Problem{Path: path, Message: err.Error()})
			}
		}
	}
	return true
}

func (w *walk) members(typ reflect.Type, path string) bool {
	known := map[string]reflect.Type{}
	if typ != nil && typ.Kind() == reflect.Struct && !reflect.PointerTo(typ).Implements(unmarshaler) {
		known = FieldsOf(typ)
	}
	for w.More() {
		token, err := w.Token()
		name, isText := token.(string)
		if err != nil || !isText {
			return false
		}
		at, inner := join(path, name), fieldOf(known, name)
		if typ != nil && typ.Kind() == reflect.Map {
			at, inner = path+"["+name+"]", typ.Elem()
		}
		if inner == nil {
			at = "" // no problem is below this value, and it can be nested deeply
		}
		if !w.value(inner, at) {
			return false
		}
	}
	_, err := w.Token()
	return err == nil
}

func (w *walk) items(typ reflect.Type, path string) bool {
	var inner reflect.Type
	if typ != nil && typ.Kind() == reflect.Slice && !reflect.PointerTo(typ).Implements(unmarshaler) {
		inner = typ.Elem()
	}
	for i := 0; w.More(); i++ {
		at := ""
		if inner != nil {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		if !w.value(inner, at) {
			return false
		}
	}
	_, err := w.Token()
	return err == nil
}

// fieldOf returns the type of the field into which encoding/json decodes a member, or nil if there is none.
func fieldOf(known map[string]reflect.Type, name string) reflect.Type {
	if typ, ok := known[name]; ok {
		return typ
	}
	for field, typ := range known {
		if strings.EqualFold(field, name) {
			return typ
		}
	}
	return nil
}
