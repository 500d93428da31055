package convert

import "slices"

// way is a key on the path to fields of one version, with the keys below it. One walk through an object looks up all
// fields, because most objects have few of the fields.
type way struct {
	key string
	// to is the path of the field in the other version. Nil means that this key only leads to other fields.
	to path
	// holder has the same meaning as in the type `field`.
	holder bool
	below  []way
}

var (
	waysToHub   = waysOf(func(f field) (from, to path) { return f.older, f.hub })
	waysToOlder = waysOf(func(f field) (from, to path) { return f.hub, f.older })
)

func waysOf(ends func(field) (from, to path)) []way {
	root := way{}
	for _, f := range fields {
		from, to := ends(f)
		at := &root
		for _, key := range from {
			at = at.step(key)
		}
		at.to, at.holder = to, f.holder
	}
	return root.below
}

// step returns the way below `w` for a key, and creates the way if there is none.
func (w *way) step(key string) *way {
	i := slices.IndexFunc(w.below, func(below way) bool { return below.key == key })
	if i < 0 {
		i = len(w.below)
		w.below = append(w.below, way{key: key})
	}
	return &w.below[i]
}

// copyFields copies, from one object to another, the fields to which the ways lead. A null counts as a missing field.
func copyFields(ways []way, from, to *object) {
	for i := range ways {
		w := &ways[i]
		found := from.find(w.key)
		if found < 0 {
			continue
		}
		if w.to != nil {
			w.copyField(from, found, to)
		}
		if len(w.below) > 0 {
			copyFields(w.below, from.open(found), to)
		}
	}
}

// copyField copies the field that is a member of `from`.
func (w *way) copyField(from *object, member int, to *object) {
	v := from.members[member].value
	switch {
	case v.isNull():
	case !w.holder:
		to.setAt(w.to, v.clone())
	case from.open(member) != nil && to.lookup(w.to).isNull():
		to.setAt(w.to, value{object: to.another()})
	}
}
