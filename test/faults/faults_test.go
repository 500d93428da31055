package faults_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// theatre is a cluster with an operator, and a healthy stack that no fault may touch.
type theatre struct {
	*cluster
	operator *operator
	table    table
	// steady is the healthy stack.
	steady     *stage
	steadyPods []string
	// created and updated are what comes of a full stack, and of one that was changed, when nothing goes wrong.
	created, updated map[string]any
}

// TestFaults breaks one thing after the other, with one control plane for all.
func TestFaults(t *testing.T) {
	c := startCluster(t)
	th := &theatre{cluster: c, operator: c.startOperator(t, "--leader-elect=false")}
	th.steady = c.newStage(t)
	th.steady.apply(t, full)
	th.created = th.steady.settle(t)
	th.steadyPods = th.steady.pods(t)
	model := c.newStage(t)
	model.apply(t, full)
	model.settle(t)
	model.apply(t, changed)
	th.updated = model.settle(t)
	t.Run("every write", func(t *testing.T) { testKilled(t, th) })
	th.undisturbed(t)
	for i, fault := range faults {
		if fault.slow && !*all {
			continue
		}
		t.Run(fault.name, func(t *testing.T) {
			th.strike(t, len(cuts)+i, fault)
			th.undisturbed(t)
		})
	}
	th.table.write(t)
}

// undisturbed holds that the healthy stack's pods are the ones they were.
func (th *theatre) undisturbed(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(th.steadyPods, th.steady.pods(t)); diff != "" {
		t.Errorf("pods of a stack that nobody touched (-want +got):\n%s", diff)
	}
	eventually(t, "the healthy stack is as it was", func() error { return th.steady.same(t, th.created) })
}

// fault is something that goes wrong around a stack that runs.
type fault struct {
	name string
	// slow faults are left to the long run.
	slow bool
	// strike begins the fault, holds what has to be true while it lasts, and gives what ends it.
	strike func(t *testing.T, th *theatre, s *stage) (end func())
	// spec is what the stack is changed to while the fault lasts; empty: it is not.
	spec string
}

// strike sees a stack through a fault: as long as it lasts no pod changes, and soon after its end the stack is as it
// should be.
func (th *theatre) strike(t *testing.T, order int, fault fault) {
	t.Helper()
	s := th.newStage(t)
	s.apply(t, full)
	eventually(t, "the stack before the fault", func() error { return s.same(t, th.created) })
	before := s.pods(t)
	th.operator.set(nil)
	end := fault.strike(t, th, s)
	want, pods := th.created, "unchanged"
	if fault.spec != "" {
		s.apply(t, fault.spec)
		want, pods = th.updated, "rolled once"
	}
	if diff := cmp.Diff(before, s.pods(t)); diff != "" {
		t.Errorf("pods while the fault lasts (-want +got):\n%s", diff)
	}
	end()
	took := eventually(t, "as it should be after the fault", func() error { return s.same(t, want) })
	if diff := cmp.Diff(before, s.pods(t)); diff != "" && fault.spec == "" {
		t.Errorf("pods after the fault (-want +got):\n%s", diff)
	}
	th.table.add(t, row{
		order: order, fault: fault.name, writes: strconv.Itoa(th.operator.written()), converged: []time.Duration{took}, pods: pods,
	})
	s.remove(t)
}
