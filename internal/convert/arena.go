package convert

import "sync"

// arena has the objects of one conversion. They go on to the next one: to make them anew would take a third of its time.
type arena struct {
	objects []*object
	used    int
}

// What an arena keeps at most, in objects and in the members of one. An ordinary conversion needs a half of that.
const (
	maxKeptObjects = 128
	maxKeptMembers = few
)

var arenas = sync.Pool{New: func() any { return &arena{objects: make([]*object, 0, maxKeptObjects)} }}

func takeArena() *arena {
	taken, ok := arenas.Get().(*arena)
	if !ok {
		panic("the pool has something else than arenas") // it is filled here alone
	}
	return taken
}

// giveBack ends the use of all objects of an arena. They keep nothing of what was converted.
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

// object is an empty object. Without an arena, and where that is full, it is one that nobody else gets.
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
