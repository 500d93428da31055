package faults_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// cut is a way of interrupting an operator at its n-th write.
type cut struct {
	name string
	// arrives means that the n-th write reaches the API server.
	arrives bool
	// slow means that the interruption is tested only with the flag -all, because a lost write has the same effect as a
	// write that the operator has not yet made.
	slow bool
	// kills means that the operator is killed. Otherwise, its calls fail for a short time.
	kills bool
}

var cuts = []cut{
	{name: "the operator is killed after the write arrives", arrives: true, kills: true},
	{name: "the operator is killed before the write arrives", kills: true, slow: true},
	{name: "the operator is disconnected after the write arrives", arrives: true},
	{name: "the operator is disconnected before the write arrives"},
}

// firstWrite returns the first write at which a kind of interruption is tested. Without the flag -all, it is the only
// one.
func firstWrite(kind int) int {
	if *all {
		return 1
	}
	return 1 + kind%3
}

// blackout is the time for which an operator that keeps running is disconnected.
const blackout = 300 * time.Millisecond

// testKilled kills the operator or interrupts its calls at a write for a new stack, and at a write for a change to the
// stack. With the flag -all, it does so at every write.
func testKilled(t *testing.T, th *theatre) {
	for i, cut := range cuts {
		if cut.slow && !*all {
			continue
		}
		t.Run(cut.name, func(t *testing.T) {
			created := row{order: i, fault: "a new stack: " + cut.name, pods: "created once"}
			updated := row{order: i, fault: "a change: " + cut.name, pods: "rolled out once"}
			for n := firstWrite(i); ; n++ {
				s := th.newStage(t)
				isCreationCut := th.cutAt(t, s, cut, n, full, th.created, &created)
				before := s.claim(t)
				isChangeCut := th.cutAt(t, s, cut, n, changed, th.updated, &updated)
				if diff := cmp.Diff(before, s.claim(t)); diff != "" {
					t.Errorf("another claim (-want +got):\n%s", diff)
				}
				s.remove(t)
				if !*all && (!isCreationCut || !isChangeCut) {
					t.Errorf("the operator makes fewer than %d writes, so the test interrupts none", n)
				}
				if !*all || !isCreationCut && !isChangeCut {
					break
				}
			}
			th.table.add(t, created)
			th.table.add(t, updated)
		})
	}
}

// cutAt writes a stack, interrupts the operator at its n-th write, and waits until the stack reaches the intended
// state. It reports whether there was such a write.
func (th *theatre) cutAt(t *testing.T, s *stage, cut cut, n int, spec string, want map[string]any, into *row) bool {
	t.Helper()
	o := th.operator
	reached, healed := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(reached) })
	o.set(func(c call) verdict {
		switch {
		case c.write == n && cut.arrives:
			return verdict{unanswered: true, until: healed, notify: once}
		case c.write == n:
			return verdict{lost: true, until: healed, notify: once}
		case closed(reached):
			return verdict{lost: true, until: healed}
		default:
			return verdict{}
		}
	})
	s.apply(t, spec)
	eventually(t, "the operator makes the write, or reaches the intended state", func() error {
		if closed(reached) {
			return nil
		}
		return s.same(t, want)
	})
	wasCut := closed(reached)
	if wasCut && cut.kills {
		o.kill(t)
	} else if wasCut {
		eventually(t, "the end of the blackout", after(blackout))
	}
	o.set(nil)
	close(healed)
	if wasCut && cut.kills {
		o.start(t)
	}
	took := eventually(t, fmt.Sprintf("the stack reaches the intended state after write %d", n), func() error { return s.same(t, want) })
	if wasCut {
		into.converged = append(into.converged, took)
		into.writes = fmt.Sprintf("%d of the first %d", len(into.converged), n)
	}
	return wasCut
}

func closed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// after returns a check that succeeds when the given time has passed.
func after(d time.Duration) func() error {
	end := time.Now().Add(d)
	return func() error {
		if time.Now().Before(end) {
			return fmt.Errorf("not yet %v", end)
		}
		return nil
	}
}
