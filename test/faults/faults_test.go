package faults_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// theatre is a cluster with an operator. It also contains a healthy stack, which the faults must not affect.
type theatre struct {
	*cluster
	operator *operator
	table    table
	// steady is the healthy stack.
	steady     *stage
	steadyPods []string
	// created is the outcome for a new stack whose spec is the constant `full`. updated is the outcome after the constant
	// `changed` replaces this spec. In both cases, no fault occurs.
	created, updated map[string]any
}

// TestFaults runs the faults one after the other on the same control plane. It runs slow faults only with the flag
// -all.
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
	t.Run("upgrade", func(t *testing.T) { testUpgrade(t, th, len(cuts)) })
	th.undisturbed(t)
	for i := range faults {
		fault := &faults[i]
		if fault.slow && !*all {
			continue
		}
		t.Run(fault.name, func(t *testing.T) {
			th.strike(t, len(cuts)+1+i, fault)
			th.undisturbed(t)
		})
	}
	th.table.write(t)
}

// undisturbed checks that the healthy stack is ready, and still has the same pods and objects.
func (th *theatre) undisturbed(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(th.steadyPods, th.steady.pods(t)); diff != "" {
		t.Errorf("the pods of the healthy stack changed (-want +got):\n%s", diff)
	}
	eventually(t, "the healthy stack is unchanged", func() error { return th.steady.same(t, th.created) })
}

// faults lists all faults except the interruptions of single writes and the upgrade.
var faults = slices.Concat(storms, references, children, users, denials, webhooks, registries, planes)

// fault is a fault that occurs while the operator handles a stack.
type fault struct {
	name string
	// slow faults run only with the flag -all.
	slow bool
	// before lists the specs that the stack has before the fault, one after the other. If the list is empty, the spec is
	// the constant `full`. fresh means that there is no stack before the fault.
	before []string
	fresh  bool
	// strikes are called one after the other. Each of them begins the fault, checks the state during the fault, and
	// returns a function that ends the fault.
	strikes []strike
	// spec is applied during the fault. If it is empty, the spec does not change.
	spec string
	// after checks the stack after the fault. If it is nil, the stack must be the same as without a fault.
	after func(*testing.T, *stage) error
	// rolls means that new pods are the expected result of the fault.
	rolls bool
}

type strike func(t *testing.T, th *theatre, s *stage) (end func())

// strike runs a fault on a stack. During the fault, the pods must not change, unless new pods are the expected result.
// After the end of the fault, the stack must reach the intended state within the time limit.
func (th *theatre) strike(t *testing.T, order int, fault *fault) {
	t.Helper()
	s := th.newStage(t)
	th.calm()
	th.prepare(t, s, fault)
	th.calm()
	r := row{order: order, fault: fault.name, pods: "unchanged"}
	switch {
	case fault.rolls:
		r.pods = "as requested"
	case fault.fresh:
		r.pods = "created once"
	case fault.spec != "":
		r.pods = "rolled out once"
	}
	for _, strike := range fault.strikes {
		r.converged = append(r.converged, th.endure(t, s, fault, strike))
	}
	r.writes = strconv.Itoa(th.written())
	th.table.add(t, r)
	s.remove(t)
}

// prepare brings the stack into the state before the fault.
func (th *theatre) prepare(t *testing.T, s *stage, fault *fault) {
	t.Helper()
	if fault.fresh {
		return
	}
	before := fault.before
	if before == nil {
		before = []string{full}
	}
	for _, spec := range before {
		s.apply(t, spec)
		eventually(t, "the stack is ready before the fault", func() error { return s.ready(t) })
	}
	s.settle(t)
}

// endure runs one strike of a fault, and returns the time from the end of the fault until the stack has recovered.
func (th *theatre) endure(t *testing.T, s *stage, fault *fault, strike strike) time.Duration {
	t.Helper()
	before := s.pods(t)
	end := strike(t, th, s)
	if fault.spec != "" {
		s.apply(t, fault.spec)
	}
	if now := s.pods(t); !fault.rolls && !cmp.Equal(before, now) {
		t.Errorf("the pods during the fault are %v, want %v as before the fault", now, before)
	}
	end()
	check := fault.after
	if check == nil {
		want := th.created
		if fault.spec == changed {
			want = th.updated
		}
		check = func(t *testing.T, s *stage) error { t.Helper(); return s.same(t, want) }
	}
	took := eventually(t, "the stack reaches the intended state after the fault", func() error { return check(t, s) })
	if now := s.pods(t); fault.spec == "" && !fault.rolls && !cmp.Equal(before, now) {
		t.Errorf("the pods after the fault are %v, want %v as before the fault", now, before)
	}
	return took
}
