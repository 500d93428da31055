package manager

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcPercent is how much the heap may grow, in percent of what is in use, before it is
	// cleaned up. Most of it are caches that change little: less than Go's own 100
	// saves memory, and cleaning up is little of the work.
	gcPercent = 60
	// memoryTick is how often the operator looks at what it does.
	memoryTick = 2 * time.Second
	// startTicks bound a start: every stack is looked at, and Go's own percentage saves a
	// fifth of the time.
	startTicks = 7
	// busyBytes are more than an operator allocates in a tick that has nothing to do.
	busyBytes = 4 << 20
)

// memoryReleaser gives the memory that a burst of work left back to the node as soon
// as the work is done. By itself a Go program at rest keeps it for two minutes, until the
// next cycle, and as much as the heap may grow for good.
type memoryReleaser struct {
	tick time.Duration
	// allocated counts the bytes that were allocated ever.
	allocated func() uint64
	// started says that the start is over.
	started func()
	release func()
}

// newMemoryReleaser cleans up more often after the start, where $GOGC does not say how
// often.
func newMemoryReleaser(gogc string) *memoryReleaser {
	started := func() { debug.SetGCPercent(gcPercent) }
	if gogc != "" {
		started = func() {}
	}
	return &memoryReleaser{tick: memoryTick, allocated: allocatedBytes, started: started, release: debug.FreeOSMemory}
}

// Start looks until ctx ends.
func (m *memoryReleaser) Start(ctx context.Context) error {
	ticker := time.NewTicker(m.tick)
	defer ticker.Stop()
	before, busy, starts := m.allocated(), true, true
	for tick := 1; ; tick++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now := m.allocated()
		worked := now-before > busyBytes
		ends := starts && (!worked || tick == startTicks)
		if ends {
			starts = false
			m.started()
		}
		if ends || busy && !worked {
			m.release()
		}
		before, busy = now, worked
	}
}

// NeedLeaderElection is false: replicas that wait have filled caches, too.
func (*memoryReleaser) NeedLeaderElection() bool { return false }

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
