package convert

import (
	"iter"
	"slices"
	"strings"
)

// object is an opened JSON object, with each key once. Most objects have few members and are searched linearly, which
// takes less time and memory than a map.
type object struct {
	members []member
	// places maps the keys of an object with many members to their indexes. It is nil until it is needed.
	places map[string]int
	// arena is the source of this object and of the objects inside it. If it is nil, each object is allocated separately.
	arena *arena
}

type member struct {
	key   string
	value value
}

// few is the maximum number of members for a linear search.
const few = 32

// newObject returns an object with room for the usual number of members.
func newObject(from *arena) *object {
	roomy := &struct {
		object
		room [6]member
	}{}
	roomy.members, roomy.arena = roomy.room[:0], from
	return &roomy.object
}

// another returns an empty object from the same arena.
func (o *object) another() *object {
	if o == nil {
		return newObject(nil)
	}
	return o.arena.object()
}

func (o *object) find(key string) int {
	if o == nil {
		return -1
	}
	if len(o.members) > few {
		return o.findAmongMany(key)
	}
	for i := range o.members {
		if o.members[i].key == key {
			return i
		}
	}
	return -1
}

func (o *object) findAmongMany(key string) int {
	if o.places == nil {
		o.places = make(map[string]int, len(o.members))
		for i := range o.members {
			o.places[o.members[i].key] = i
		}
	}
	if i, ok := o.places[key]; ok {
		return i
	}
	return -1
}

func (o *object) size() int {
	if o == nil {
		return 0
	}
	return len(o.members)
}

func (o *object) get(key string) value {
	if i := o.find(key); i >= 0 {
		return o.members[i].value
	}
	return value{}
}

// open opens, in place, the object that is the member at an index, and returns it. It returns nil if the member is not
// an object.
func (o *object) open(i int) *object { return o.members[i].value.open(o.arena) }

func (o *object) set(key string, v value) {
	if i := o.find(key); i >= 0 {
		o.members[i].value = v
		return
	}
	o.members = append(o.members, member{key, v})
	if o.places != nil {
		o.places[key] = len(o.members) - 1
	}
}

// put sets a key, or deletes it if there is no value.
func (o *object) put(key string, v value) {
	if v.exists() {
		o.set(key, v)
	} else {
		o.delete(key)
	}
}

func (o *object) delete(key string) {
	i := o.find(key)
	if i < 0 {
		return
	}
	last := len(o.members) - 1
	if o.places == nil {
		o.members = slices.Delete(o.members, i, i+1)
		return
	}
	o.members[i] = o.members[last]
	o.places[o.members[i].key] = i
	delete(o.places, key)
	o.members = o.members[:last]
}

// sorted returns the members, sorted by key.
func (o *object) sorted() []member {
	if o == nil {
		return nil
	}
	byKey := func(a, b member) int { return strings.Compare(a.key, b.key) }
	if !slices.IsSortedFunc(o.members, byKey) {
		slices.SortFunc(o.members, byKey)
		o.places = nil
	}
	return o.members
}

func (o *object) clone() *object {
	result := &object{members: make([]member, len(o.members))}
	for i, m := range o.members {
		result.members[i] = member{m.key, m.value.clone()}
	}
	return result
}

// deduplicated returns an object with the last member for each key.
func (o *object) deduplicated() *object {
	return o.another().with(o.members)
}

// with sets the members of an object, and returns it.
func (o *object) with(members []member) *object {
	for _, m := range members {
		o.set(m.key, m.value)
	}
	return o
}

// pair holds the values of one key in two objects.
type pair struct{ a, b value }

// pairs yields each key of two objects once, in sorted order, with the values in both objects.
func pairs(a, b *object) iter.Seq2[string, pair] {
	return func(yield func(string, pair) bool) {
		x, y := a.sorted(), b.sorted()
		for len(x) > 0 || len(y) > 0 {
			var key string
			var found pair
			if len(y) == 0 || len(x) > 0 && x[0].key <= y[0].key {
				key, found.a, x = x[0].key, x[0].value, x[1:]
			} else {
				key = y[0].key
			}
			if len(y) > 0 && y[0].key == key {
				found.b, y = y[0].value, y[1:]
			}
			if !yield(key, found) {
				return
			}
		}
	}
}

// merged returns the union of two objects. If both have a key, the value in `over` takes precedence.
func merged(under, over *object) *object {
	return over.another().with(under.sorted()).with(over.sorted())
}
