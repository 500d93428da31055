package manager

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Memory is released once at the end of the start, and once after each later burst of work. The start ends at the first
// idle tick, or after startTicks ticks.
func TestMemoryIsReleased(t *testing.T) {
	const idle, work = busyBytes / 2, 2 * busyBytes
	for name, tc := range map[string]struct {
		allocations []uint64
		want        int
	}{
		"an idle start":             {[]uint64{idle}, 1},
		"idle after an idle start":  {[]uint64{idle, idle, idle, idle}, 1},
		"a busy start":              {[]uint64{work, work}, 0},
		"a long start":              {slices.Repeat([]uint64{work}, startTicks+2), 1},
		"idle after a busy start":   {[]uint64{work, work, idle, idle}, 1},
		"busy after an idle start":  {[]uint64{idle, idle, work, work}, 1},
		"two bursts of work":        {[]uint64{work, idle, idle, work, idle, idle}, 2},
		"alternating work and rest": {[]uint64{idle, work, idle, work}, 2},
		"idle after a long start":   {append(slices.Repeat([]uint64{work}, startTicks+1), idle, idle), 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(len(tc.allocations))*time.Second+time.Millisecond)
				defer cancel()
				total, looks, given, starts := uint64(0), 0, 0, 0
				m := &memoryReleaser{
					tick: time.Second,
					allocated: func() uint64 {
						if looks > 0 {
							total += tc.allocations[looks-1]
						}
						looks++
						return total
					},
					started: func() { starts++ },
					release: func() { given++ },
				}
				if err := m.Start(ctx); err != nil {
					t.Error(err)
				}
				if given != tc.want || looks != len(tc.allocations)+1 {
					t.Errorf("memory was released %d times after %d measurements, want %d after %d", given, looks, tc.want, len(tc.allocations)+1)
				}
				if starts != min(given, 1) {
					t.Errorf("the start ended %d times", starts)
				}
			})
		})
	}
}

func TestAllocatedBytes(t *testing.T) {
	before := allocatedBytes()
	held := make([]byte, 1<<20)
	if after := allocatedBytes(); after < before+uint64(len(held)) {
		t.Errorf("%d bytes allocated before, %d after another %d", before, after, len(held))
	}
}
