package convert

import (
	"bytes"
	"encoding/json"
	"slices"
)

// value is a JSON value: raw JSON, or an opened object or list. The zero value represents a missing value. Most parts
// of an object are only copied, byte by byte. Raw JSON is shared and never changed.
type value struct {
	raw    json.RawMessage
	object *object
	list   *list
}

type list []value

// open opens raw JSON as an object in place, and returns the object. It returns nil if the value is not an object.
func (v *value) open(from *arena) *object {
	if v.object == nil && v.isRaw('{') {
		*v = value{object: openObject(v.raw, from)}
	}
	return v.object
}

// opened returns the value as an object, and does not change the value. It returns nil if the value is not an object.
func (v value) opened(from *arena) *object { return v.open(from) }

// listed returns the value as a list, and does not change the value. It returns nil if the value is not a list.
func (v value) listed() *list { return v.openList() }

// openList is like open, for a list.
func (v *value) openList() *list {
	if v.list == nil && v.isRaw('[') {
		*v = value{list: openList(v.raw)}
	}
	return v.list
}

// isRaw reports whether a value is raw JSON that begins with the given byte.
func (v value) isRaw(first byte) bool { return len(v.raw) > 0 && v.raw[0] == first }

func (v value) exists() bool { return len(v.raw) > 0 || v.object != nil || v.list != nil }

// isNull reports whether a value is null or missing.
func (v value) isNull() bool { return !v.exists() || v.isRaw('n') }

// text returns the text of a value, and false if the value is not a string.
func (v value) text() (string, bool) {
	if !v.isRaw('"') {
		return "", false
	}
	return text(v.raw), true
}

// is reports whether a value is the given string, which must be plain ASCII.
func (v value) is(want string) bool { return v.isRaw('"') && isText(v.raw, want) }

// hasText reports whether a value is a string that is not empty.
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
	// The additional quarter leaves room for escape sequences.
	return value{raw: appendText(make([]byte, 0, len(text)+len(text)/4+len(`""`)), text)}
}

// clone returns a copy of opened objects and lists.
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

// equal reports whether two values are the same JSON value, whether or not they are opened. Numbers are equal only if
// they are written in the same way.
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
