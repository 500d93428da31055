package manager

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// gcPercent is the growth of the heap, in percent of the live heap, that triggers garbage collection. Most of the heap
	// consists of caches that rarely change. A value below Go's default of 100 saves memory, and garbage collection
	// remains a small part of the work.
	gcPercent = 60
	// memoryTick is the interval between measurements.
	memoryTick = 2 * time.Second
	// startTicks is the maximum duration of the start, during which every stack is reconciled. During the start, gcPercent
	// does not apply, because the start is a fifth shorter with Go's default of 100.
	startTicks = 7
	// busyBytes is a threshold, in bytes. An idle operator allocates less memory than this in a tick.
	busyBytes = 4 << 20
)

// memoryReleaser returns memory to the node as soon as a burst of work is over. By default, an idle Go program keeps
// this memory until the next garbage collection, for up to two minutes. Such a program never returns the memory that Go
// reserves for the growth of the heap.
type memoryReleaser struct {
	tick time.Duration
	// allocated returns the total number of allocated bytes.
	allocated func() uint64
	// started is called when the operator has started.
	started func()
	release func()
}

// newMemoryReleaser returns a memoryReleaser that sets gcPercent after the start, unless $GOGC is set.
func newMemoryReleaser(gogc string) *memoryReleaser {
	started := func() { debug.SetGCPercent(gcPercent) }
	if gogc != "" {
		started = func() {}
	}
	return &memoryReleaser{tick: memoryTick, allocated: allocatedBytes, started: started, release: debug.FreeOSMemory}
}

// Start measures until ctx ends.
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

// NeedLeaderElection returns false, because replicas that wait for the lease fill caches too.
func (*memoryReleaser) NeedLeaderElection() bool { return false }

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
