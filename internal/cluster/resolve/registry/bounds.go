package registry

import (
	"container/list"
	"time"
)

// maxKept is the maximum size, in bytes, of what the pool keeps for the stacks in a namespace: configurations, the
// metadata of external providers, the names of their images, and long lists of pull Secrets. A stack needs its data until
// the stack is rolled out.
const maxKept = 32 << 20

// kept contains the tasks of a namespace that keep data, oldest first.
type kept struct {
	tasks list.List
	size  int
}

// keep counts the data of a task. The data must not have been counted yet. If all tasks of its namespace together keep
// more than maxKept bytes, keep forgets the oldest tasks. A later request for dropped data reads it again.
func (p *Pool) keep(one *task) {
	if one.counted = one.size(); one.counted == 0 {
		return
	}
	all, ok := p.kept[one.stack.Namespace]
	if !ok {
		all = &kept{}
		p.kept[one.stack.Namespace] = all
	}
	one.place = all.tasks.PushBack(one)
	all.size += one.counted
	for all.size > maxKept {
		p.forget(all.tasks.Front().Value.(*task).key)
	}
}

// unkeep stops counting the data that a task keeps.
func (p *Pool) unkeep(one *task) {
	if one.place == nil {
		return
	}
	all := p.kept[one.stack.Namespace]
	all.tasks.Remove(one.place)
	all.size -= one.counted
	one.place, one.counted = nil, 0
	if all.tasks.Len() == 0 {
		delete(p.kept, one.stack.Namespace)
	}
}

// setBusy records whether a task waits for a free share of the pool.
func (p *Pool) setBusy(one *task, waits bool) {
	if one.busy == waits {
		return
	}
	namespace := one.stack.Namespace
	if one.busy = waits; waits {
		p.busy[namespace]++
	} else if p.busy[namespace]--; p.busy[namespace] == 0 {
		delete(p.busy, namespace)
	}
}

// pauseTogether returns the pause before a task checks again whether a share is free. The parameter waiting is the
// number of waiting tasks in its namespace. Regardless of the number of waiting tasks, all of them together check at
// most as often as busyTogether tasks whose pause is the constant busy.
func pauseTogether(waiting int) time.Duration {
	return busy * time.Duration(1+waiting/busyTogether)
}
