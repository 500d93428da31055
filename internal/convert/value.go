package convert

import (
	"bytes"
	"encoding/json"
	"slices"
)

// value is a JSON value: JSON that nobody has looked into yet, or an object or a list that somebody has. With none of
// them there is no value. Most of an object is only copied, and stays the bytes it was. Raw JSON is never changed, and
// shared.
type value struct {
	raw    json.RawMessage
	object *object
	list   *list
}

type list []value

// open makes an object of raw JSON that is one, for good, and returns it. Nil: it is none.
func (v *value) open(from *arena) *object {
	if v.object == nil && v.isRaw('{') {
		*v = value{object: openObject(v.raw, from)}
	}
	return v.object
}

// opened is the object that a value is; the value stays as it is. Nil: it is none.
func (v value) opened(from *arena) *object { return v.open(from) }

// listed is the list that a value is; the value stays as it is. Nil: it is none.
func (v value) listed() *list { return v.openList() }

// openList is open for a list.
func (v *value) openList() *list {
	if v.list == nil && v.isRaw('[') {
		*v = value{list: openList(v.raw)}
	}
	return v.list
}

// isRaw reports whether a value is raw JSON that begins with a byte.
func (v value) isRaw(first byte) bool { return len(v.raw) > 0 && v.raw[0] == first }

func (v value) exists() bool { return len(v.raw) > 0 || v.object != nil || v.list != nil }

// isNull reports whether a value is null, which is the same as none.
func (v value) isNull() bool { return !v.exists() || v.isRaw('n') }

// text is what a text says; of no text nothing, and false.
func (v value) text() (string, bool) {
	if !v.isRaw('"') {
		return "", false
	}
	return text(v.raw), true
}

// says reports whether a value is a certain text, which is plain ASCII.
func (v value) says(want string) bool { return v.isRaw('"') && isText(v.raw, want) }

// hasText reports whether a value is a text that is not empty.
func (v value) hasText() bool { return v.isRaw('"') && len(v.raw) > len(`""`) }

// isTrue reports whether a value is the boolean true.
func (v value) isTrue() bool { return v.isRaw('t') }

func (v value) isFalse() bool { return v.isRaw('f') }

func rawBool(is bool) value {
	if is {
		return value{raw: json.RawMessage("true")}
	}
	return value{raw: json.RawMessage("false")}
}

func rawText[T string | []byte](text T) value {
	return value{raw: appendText(make([]byte, 0, len(text)+len(text)/4+len(`""`)), text)} // a quarter for escapes
}

// clone copies objects and lists that somebody looked into.
func (v value) clone() value {
	switch {
	case v.object != nil:
		return value{object: v.object.clone()}
	case v.list != nil:
		items := make(list, len(*v.list))
		for i, item := range *v.list {
			items[i] = item.clone()
		}
		return value{list: &items}
	default:
		return v
	}
}

// equal compares two values by what they mean, whether somebody has looked into them or not. Numbers are equal when they
// are spelt alike.
func equal(a, b value) bool {
	if a.raw != nil && b.raw != nil {
		return bytes.Equal(a.raw, b.raw) || bytes.Equal(encode(a), encode(b))
	}
	x, y := a.opened(nil), b.opened(nil)
	if x != nil || y != nil {
		return x != nil && y != nil && slices.EqualFunc(x.sorted(), y.sorted(), func(m, n member) bool {
			return m.key == n.key && equal(m.value, n.value)
		})
	}
	items, others := a.listed(), b.listed()
	if items != nil || others != nil {
		return items != nil && others != nil && slices.EqualFunc(*items, *others, equal)
	}
	return a.isNull() && b.isNull()
}
