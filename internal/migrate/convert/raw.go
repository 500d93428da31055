package convert

import (
	"encoding/json"
)

// shape names the nested objects that are opened together with an object.
type shape map[string]shape

// add adds the objects on a path.
func (s shape) add(way path) {
	for _, key := range way {
		if s[key] == nil {
			s[key] = shape{}
		}
		s = s[key]
	}
}

// object opens the object at an index and the nested objects of a shape. It returns the object and the index after it.
// If a key occurs more than once, the last value takes effect, as in encoding/json.
func (r *reader) object(i int, within shape) (*object, int) {
	o, ascending := r.arena.object(), true
	r.depth++
	for i = r.enter(i); r.at(i) != '}'; {
		m, end := r.member(i, within)
		ascending = ascending && (len(o.members) == 0 || o.members[len(o.members)-1].key < m.key)
		o.members = append(o.members, m)
		if i = r.space(end); r.at(i) == ',' {
			if i = r.space(i + 1); r.at(i) == '}' {
				return nil, r.bad()
			}
		} else if r.at(i) != '}' {
			return nil, r.bad()
		}
	}
	r.depth--
	if !ascending {
		o = o.deduplicated()
	}
	return o, i + 1
}

// member reads the member at an index, and parses the value if the shape contains a nested object there. It returns the
// index after the member.
func (r *reader) member(i int, within shape) (member, int) {
	end, start := r.key(i)
	if end > len(r.data) {
		return member{}, end
	}
	m := member{key: keyText(r.data[i:end])}
	if i = start; r.at(i) == '{' && within[m.key] != nil {
		m.value.object, i = r.object(i, within[m.key])
	} else if i = r.value(i); i <= len(r.data) {
		m.value.raw = r.data[start:i:i]
	}
	return m, i
}

// openObject opens a raw object.
func openObject(raw json.RawMessage, from *arena) *object {
	r := again(raw)
	r.arena = from
	o, _ := r.object(0, nil)
	return o
}

// roomForItems is the number of items that is enough for most lists.
const roomForItems = 12

// openList opens a raw list.
func openList(raw json.RawMessage) *list {
	items, r := make(list, 0, roomForItems), again(raw)
	for i := r.space(1); r.at(i) != ']'; {
		end := r.value(i)
		items = append(items, value{raw: raw[i:end:end]})
		i = r.comma(end)
	}
	return &items
}

// comma returns the index of the next item, or of the end of the list or object.
func (r *reader) comma(i int) int {
	i = r.space(i)
	if r.at(i) == ',' {
		return r.space(i + 1)
	}
	return i
}

// member returns the value of a key in v, or a missing value if v is not an object. It does not decode v.
func (v value) member(key string) value {
	if v.object != nil || !v.isRaw('{') {
		return v.object.get(key)
	}
	var found value
	r := again(v.raw)
	for i := r.space(1); r.at(i) != '}'; {
		keyEnd, start := r.key(i)
		end := r.value(start)
		if isText(r.data[i:keyEnd], key) {
			found.raw = r.data[start:end:end]
		}
		i = r.comma(end)
	}
	return found
}
