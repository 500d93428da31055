package share

import (
	"context"
	"sync"
	"time"
)

// Slots limits how many callers do the same work at the same time. A namespace uses at most its share of the slots.
type Slots struct {
	mu    sync.Mutex
	free  int
	turns *turns[*waiter]
}

// waiter waits for a slot. The channel is closed when the waiter gets the slot.
type waiter struct {
	namespace string
	has       chan struct{}
}

// NewSlots returns a number of free slots. The parameter each is the share of a namespace.
func NewSlots(slots, each int) *Slots {
	return &Slots{free: slots, turns: newTurns(slots, each, 0, func(w *waiter) string { return w.namespace })}
}

// Take waits for a slot, and returns the function that frees the slot again. It returns the context's error if ctx ends
// first.
func (s *Slots) Take(ctx context.Context, namespace string) (free func(), err error) {
	w := &waiter{namespace: namespace, has: make(chan struct{})}
	s.mu.Lock()
	s.turns.Push(w)
	s.assign()
	s.mu.Unlock()
	select {
	case <-w.has:
		return func() { s.put(w) }, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	waits := s.turns.remove(w)
	s.mu.Unlock()
	if !waits {
		s.put(w)
	}
	return nil, ctx.Err()
}

// Try takes a slot if the namespace can have one now. It returns false otherwise.
func (s *Slots) Try(namespace string) (free func(), ok bool) {
	w := &waiter{namespace: namespace, has: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns.Push(w)
	s.assign()
	if s.turns.remove(w) {
		return nil, false
	}
	return func() { s.put(w) }, true
}

// Worked records how long a namespace had a slot. All namespaces with slow work together have half of the slots.
func (s *Slots) Worked(namespace string, took time.Duration) { s.turns.worked(namespace, took) }

// assign assigns the free slots to the next waiters.
func (s *Slots) assign() {
	for ; s.free > 0 && s.turns.Len() > 0; s.free-- {
		close(s.turns.Pop().has)
	}
}

func (s *Slots) put(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free++
	s.turns.release(w)
	s.assign()
}
