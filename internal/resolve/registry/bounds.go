package registry

import (
	"container/list"
	"time"
)

// maxKept bounds the configurations that are kept for the stacks of a namespace, in
// bytes. A stack needs its own until it is rolled out.
const maxKept = 32 << 20

// keptConfigs are the tasks of a namespace that have a configuration, the oldest first.
type keptConfigs struct {
	tasks list.List
	size  int
}

// keep counts the configuration of a task that is not counted yet, and drops the oldest ones of its namespace
// where they are too large together. A stack whose configuration was dropped has it read
// again when it asks.
func (p *Pool) keep(one *task) {
	if one.size() == 0 {
		return
	}
	namespace := one.target.Stack.Namespace
	kept, ok := p.kept[namespace]
	if !ok {
		kept = &keptConfigs{}
		p.kept[namespace] = kept
	}
	one.kept = kept.tasks.PushBack(one)
	kept.size += one.size()
	for kept.size > maxKept {
		oldest := kept.tasks.Front().Value.(*task)
		p.unkeep(oldest)
		oldest.outcome, oldest.dropped = Outcome{}, true
	}
}

// unkeep does not count the configuration of a task any more.
func (p *Pool) unkeep(one *task) {
	if one.kept == nil {
		return
	}
	namespace := one.target.Stack.Namespace
	kept := p.kept[namespace]
	kept.tasks.Remove(one.kept)
	kept.size -= one.size()
	one.kept = nil
	if kept.tasks.Len() == 0 {
		delete(p.kept, namespace)
	}
}

// size is that of a task's configuration.
func (t *task) size() int {
	if t.outcome.Image == nil {
		return 0
	}
	return len(t.outcome.Image.Config)
}

// setBusy notes that a task waits for its share, or not any more.
func (p *Pool) setBusy(one *task, waits bool) {
	if one.busy == waits {
		return
	}
	namespace := one.target.Stack.Namespace
	if one.busy = waits; waits {
		p.busy[namespace]++
	} else if p.busy[namespace]--; p.busy[namespace] == 0 {
		delete(p.busy, namespace)
	}
}

// pauseTogether is the pause before a task looks again whether its share is free, when
// some tasks of its namespace wait. Together they look as often as busyTogether do.
func pauseTogether(waiting int) time.Duration {
	return busy * time.Duration(1+waiting/busyTogether)
}
