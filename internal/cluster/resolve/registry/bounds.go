package registry

import (
	"container/list"
	"time"
)

// maxKept is the maximum size, in bytes, of what the pool keeps for the stacks in a namespace: configurations, the
// metadata of external providers, the names of their images, and long lists of pull Secrets. A stack needs its data
// until the stack is rolled out.
const maxKept = 32 << 20

// maxInAll is the same for the stacks in all namespaces together, because a user can have many namespaces.
const maxInAll = 3 * maxKept

// kept contains the tasks of a namespace that keep data, oldest first.
type kept struct {
	tasks list.List
	size  int
}

// keep counts the data of a task. The data must not have been counted yet. If all tasks of its namespace together keep
// more than maxKept bytes, or those of all namespaces more than maxInAll, keep forgets the oldest other tasks of the
// namespace with the most bytes. A later request for dropped data reads it again.
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
	for all = p.tooLarge(one); all != nil; all = p.tooLarge(one) {
		p.forget(all.tasks.Front().Value.(*task).key)
	}
}

// tooLarge returns a namespace that keeps too much, or the one that keeps the most if all together keep too much. The
// newest task does not count: its stack has not used the data yet, and would cause the same read again.
func (p *Pool) tooLarge(newest *task) *kept {
	var largest *kept
	size, most := 0, 0
	for namespace, all := range p.kept {
		others := all.size
		if namespace == newest.stack.Namespace {
			others -= newest.counted
		}
		if others > 0 && all.size > maxKept {
			return all
		}
		if size += all.size; others > most {
			largest, most = all, others
		}
	}
	if size > maxInAll {
		return largest
	}
	return nil
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

// setBusy records the registry for whose share a task waits. An empty registry means that it waits for none.
func (p *Pool) setBusy(one *task, registry string) {
	namespace := one.stack.Namespace
	if one.busy != "" {
		add(p.busy, namespace, -1)
		add(p.waiting[one.busy], namespace, -1)
		if len(p.waiting[one.busy]) == 0 {
			delete(p.waiting, one.busy)
		}
	}
	if one.busy = registry; registry != "" {
		if p.waiting[registry] == nil {
			p.waiting[registry] = map[string]int{}
		}
		add(p.busy, namespace, 1)
		add(p.waiting[registry], namespace, 1)
	}
}

// add changes a count, and deletes it when it is zero.
func add[K comparable](counts map[K]int, of K, n int) {
	if counts[of] += n; counts[of] == 0 {
		delete(counts, of)
	}
}

// yields reports whether a namespace that uses fewer shares of a registry waits for one, and can take it. It goes
// first: otherwise, namespaces with many waiting tasks, which look for a free share more often, would take every share.
func (p *Pool) yields(registry, namespace string) bool {
	own := p.inUse[limit{registry: registry, namespace: namespace}]
	for other := range p.waiting[registry] {
		if p.inUse[limit{registry: registry, namespace: other}] < own && p.queue.MayTake(other) {
			return true
		}
	}
	return false
}

// pauseTogether returns the pause before a task checks again whether a share is free. The parameter waiting is the
// number of waiting tasks in its namespace. Regardless of the number of waiting tasks, all of them together check at
// most as often as busyTogether tasks whose pause is the constant busy.
func pauseTogether(waiting int) time.Duration {
	return busy * time.Duration(1+waiting/busyTogether)
}
