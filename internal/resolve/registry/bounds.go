package registry

import (
	"container/list"
	"time"
)

// maxKept bounds what is kept of images for the stacks of a namespace, in bytes: configurations, and what external
// providers say of themselves. A stack needs its own until it is rolled out.
const maxKept = 32 << 20

// part is what a task has of the pool's bounds.
type part struct {
	namespace string
	// busy tells that the task waits for its share.
	busy bool
	// place is the task's among those that keep something, counted how many bytes that was; dropped tells that it had to
	// make room for others.
	place   *list.Element
	counted int
	dropped bool
}

func (one *part) bounds() *part { return one }

// keeper is a task that keeps something of an image.
type keeper interface {
	bounds() *part
	// size is how many bytes it keeps.
	size() int
	// drop keeps nothing any more.
	drop()
}

// kept are the tasks of a namespace that keep something, the oldest first.
type kept struct {
	tasks list.List
	size  int
}

// keep counts what a task keeps that is not counted yet, and drops the oldest tasks of its namespace where they keep too
// much together. A stack for which that was dropped has it read again when it asks.
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

// unkeep does not count what a task keeps any more.
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

// size is that of a task's configuration.
func (t *task) size() int {
	if t.outcome.Image == nil {
		return 0
	}
	return len(t.outcome.Image.Config)
}

func (t *task) drop() { t.outcome = Outcome{} }

// setBusy notes that a task waits for its share, or not any more.
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

// pauseTogether is the pause before a task looks again whether its share is free, when
// some tasks of its namespace wait. Together they look as often as busyTogether do.
func pauseTogether(waiting int) time.Duration {
	return busy * time.Duration(1+waiting/busyTogether)
}
