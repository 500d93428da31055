package convert

import "sync"

// arena holds the objects of one conversion. A later conversion reuses them, because allocating new ones would take a
// third of the time of a conversion.
type arena struct {
	objects []*object
	used    int
}

// These constants limit the number of objects that an arena keeps, and the number of members in each object. A typical
// conversion needs half as many.
const (
	maxKeptObjects = 128
	maxKeptMembers = few
)

var arenas = sync.Pool{New: func() any { return &arena{objects: make([]*object, 0, maxKeptObjects)} }}

func takeArena() *arena {
	taken, ok := arenas.Get().(*arena)
	if !ok {
		panic("the pool contains a value that is not an arena") // only this package fills the pool
	}
	return taken
}

// giveBack returns an arena to the pool. Its objects keep no reference to the converted object.
func (a *arena) giveBack() {
	for i, o := range a.objects[:a.used] {
		if cap(o.members) > maxKeptMembers {
			a.objects[i] = newObject(a)
			continue
		}
		clear(o.members[:cap(o.members)])
		o.members, o.places = o.members[:0], nil
	}
	a.used = 0
	arenas.Put(a)
}

// object returns an empty object. Without an arena, or if the arena is full, the object is not reused.
func (a *arena) object() *object {
	if a == nil || a.used == maxKeptObjects {
		return newObject(a)
	}
	if a.used == len(a.objects) {
		a.objects = append(a.objects, newObject(a))
	}
	a.used++
	return a.objects[a.used-1]
}
