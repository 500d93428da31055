package registry

import (
	"container/list"
	"time"
)

// maxKept is the maximum size, in bytes, of the data that the pool keeps from images for the stacks in a namespace:
// configurations and the metadata of external providers. A stack needs its data until the stack is rolled out.
const maxKept = 32 << 20

// part is the part of a task that the pool needs to enforce its bounds.
type part struct {
	namespace string
	// busy reports whether the task waits for a free share of the pool.
	busy bool
	// The field place is the task's element in the list of tasks that keep data. The field counted is the number of bytes
	// that the pool counts for the task. The field dropped reports whether the pool dropped the data of the task to make
	// room for other tasks.
	place   *list.Element
	counted int
	dropped bool
}

func (one *part) bounds() *part { return one }

// keeper is a task that keeps data from an image.
type keeper interface {
	bounds() *part
	// size returns the number of bytes that the task keeps.
	size() int
	// drop discards the data.
	drop()
}

// kept contains the tasks of a namespace that keep data, oldest first.
type kept struct {
	tasks list.List
	size  int
}

// keep counts the data of a task. The data must not have been counted yet. If all tasks of its namespace together keep
// more than maxKept bytes, keep drops the data of the oldest tasks. A later request for dropped data reads it again.
func (p *Pool) keep(one keeper) {
	own := one.bounds()
	if own.counted = one.size(); own.counted == 0 {
		return
	}
	all, ok := p.kept[own.namespace]
	if !ok {
		all = &kept{}
		p.kept[own.namespace] = all
	}
	own.place = all.tasks.PushBack(one)
	all.size += own.counted
	for all.size > maxKept {
		oldest := all.tasks.Front().Value.(keeper)
		p.unkeep(oldest)
		oldest.drop()
		oldest.bounds().dropped = true
	}
}

// unkeep stops counting the data that a task keeps.
func (p *Pool) unkeep(one keeper) {
	own := one.bounds()
	if own.place == nil {
		return
	}
	all := p.kept[own.namespace]
	all.tasks.Remove(own.place)
	all.size -= own.counted
	own.place, own.counted = nil, 0
	if all.tasks.Len() == 0 {
		delete(p.kept, own.namespace)
	}
}

// size returns the size of a task's configuration.
func (t *task) size() int {
	if t.outcome.Image == nil {
		return 0
	}
	return len(t.outcome.Image.Config)
}

func (t *task) drop() { t.outcome = Outcome{} }

// setBusy records whether a task waits for a free share of the pool.
func (p *Pool) setBusy(one *part, waits bool) {
	if one.busy == waits {
		return
	}
	if one.busy = waits; waits {
		p.busy[one.namespace]++
	} else if p.busy[one.namespace]--; p.busy[one.namespace] == 0 {
		delete(p.busy, one.namespace)
	}
}

// pauseTogether returns the pause before a task checks again whether a share is free. The parameter waiting is the
// number of waiting tasks in its namespace. Regardless of the number of waiting tasks, all of them together check at
// most as often as busyTogether tasks whose pause is the constant busy.
func pauseTogether(waiting int) time.Duration {
	return busy * time.Duration(1+waiting/busyTogether)
}
