package scale_test

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
)

var (
	objects     = flag.Int("objects", 1000, "number of stacks")
	foreign     = flag.Int("foreign", 20000, "number of unrelated ConfigMaps and Secrets")
	idle        = flag.Duration("idle", time.Minute, "time for which the idle operator is measured")
	controllers = flag.Bool("controllers", false, "also run the Deployment controller")
	exposed     = flag.Bool("exposed", false, "expose every stack with its own host name")
	before      = flag.String("before", "", "program of an older operator, built with main.version="+version+", that creates the stacks; if set, the restart is an upgrade")
)

const (
	// patience is the time limit for each step.
	patience = 20 * time.Minute
	poll     = 100 * time.Millisecond
	// scrape is the interval at which the test reads the operator's metrics while it waits.
	scrape = 500 * time.Millisecond
	// turns is the number of measurements of the bare client and of the operator. The two alternate, because the speed of
	// a shared machine changes from one minute to the next.
	turns = 10
	// quiet is the time without a call after which the operator is treated as idle.
	quiet = 3 * time.Second
)

// BenchmarkScale measures the operator. Run it with -benchtime=1x, as `make bench-scale` does.
func BenchmarkScale(b *testing.B) {
	title := fmt.Sprintf("%d stacks, %d unrelated objects, Deployment controller %v, exposed %v",
		*objects, *foreign, *controllers, *exposed)
	repeat(b, title, func(b *testing.B) []figure {
		m := measure(b)
		return m.figures()
	})
}

// measured contains the results of one run.
type measured struct {
	// bare and operator are the median writes per second over all turns. share is the median of the operator's rate as a
	// percentage of the bare client's rate in the preceding turn.
	bare, operator, share float64
	// made is the number of the operator's writes. reads is the number of its reads from the API server.
	made, reads int
	// resident is the memory in MiB after the writes. rested is the memory when idle.
	resident, rested float64
	// idleCalls is the number of calls per minute when idle, without leases and watches. cpu is the processor usage
	// when idle, as a percentage of a core.
	idleCalls, cpu float64
	// restartWrites and restartReads are the numbers of writes and reads that an operator makes after a restart. observed
	// is the time until the operator has reconciled every stack, and worked is the processor time that it needs for that.
	restartWrites, restartReads int
	observed, worked            time.Duration
}

func measure(b *testing.B) measured {
	b.Helper()
	ctrl.SetLogger(logr.Discard())
	c := startCluster(b)
	c.addForeign(b)
	writes := c.learn(b)
	var m measured
	var bare, worked []float64
	var o *operator
	for turn := range turns {
		from, to := *objects*turn/turns, *objects*(turn+1)/turns
		if o != nil {
			o.stop(b)
		}
		bare = append(bare, float64(len(writes)*(to-from))/c.writeBare(b, writes, from, to).Seconds())
		o = c.startOperator(b)
		made, reads, took := c.burst(b, o, from, to)
		m.made, m.reads, worked = m.made+made, m.reads+reads, append(worked, float64(made)/took.Seconds())
	}
	m.bare, m.operator, m.share = median(bare), median(worked), ratio(bare, worked)
	m.resident = o.resident(b)

	c.readyPods(b)
	c.rests(b)
	m.idleCalls, m.cpu = c.atRest(b, o)
	m.rested = o.resident(b)

	o.stop(b)
	c.program = c.newest
	begin, started := c.audited(b), time.Now()
	o = c.startOperator(b)
	o.observes(b, *objects)
	m.observed, m.worked = time.Since(started), o.cpu(b)
	c.rests(b)
	m.restartWrites, m.restartReads, _ = c.counts(b, begin)
	o.stop(b)
	return m
}

// burst makes an idle operator reconcile the stacks whose numbers are in a range, all at the same time. It returns the
// number of writes and reads, and the time from the first write to the last write.
func (c *cluster) burst(b *testing.B, o *operator, from, to int) (made, reads int, took time.Duration) {
	b.Helper()
	o.observes(b, from)
	c.rests(b)
	o.signal(b, syscall.SIGSTOP)
	c.addStacks(b, from, to)
	begin := c.audited(b)
	o.signal(b, syscall.SIGCONT)
	c.begins(b, begin) // the test does not request metrics while the operator writes
	c.rests(b)
	o.observes(b, to)
	c.rests(b)
	return c.counts(b, begin)
}

// ratio divides each value of the second list by the corresponding value of the first list, and returns the median as a
// percentage.
func ratio(of, these []float64) float64 {
	shares := make([]float64, len(of))
	for i := range of {
		shares[i] = 100 * these[i] / of[i]
	}
	return median(shares)
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}

// perStack returns the number of calls per stack.
func perStack(calls int) float64 { return float64(calls) / float64(*objects) }

// figures returns the rows of the table, with the limits.
func (m *measured) figures() []figure {
	memory := "150 MiB"
	if *objects > 1000 {
		memory = "400 MiB"
	}
	row := func(measure, format, limit string, values ...float64) figure {
		return figure{measure, format, limit, values}
	}
	return []figure{
		row("writes per second by a bare client", "%.0f", "", m.bare),
		row("writes per second by the operator", "%.0f, %.0f %%", "90 %", m.operator, m.share),
		row("writes and reads for a new stack", "%.1f, %.1f", "", perStack(m.made), perStack(m.reads)),
		row("resident memory after the writes, and when idle", "%.0f MiB, %.0f MiB", memory, m.resident, m.rested),
		row("calls per minute when idle, without leases and watches", "%.0f", "0", m.idleCalls),
		row("processor when idle", "%.2f %% of a core", "1 %", m.cpu),
		row("writes after a restart, and reads per stack", "%.0f, %.1f", "0 writes",
			float64(m.restartWrites), perStack(m.restartReads)),
		row("time after a restart until every stack is observed", "%.1f s", "10 s", m.observed.Seconds()),
		row("processor time of the operator until then, per stack", "%.1f ms", "",
			m.worked.Seconds()*1000/float64(*objects)),
	}
}

// eventually polls until the function check returns true. It fails the benchmark if check returns an error, or if this
// takes longer than the constant patience.
func eventually(b *testing.B, every time.Duration, what string, check func() (bool, error)) {
	b.Helper()
	err := wait.PollUntilContextTimeout(b.Context(), every, patience, true,
		func(context.Context) (bool, error) { return check() })
	if err != nil {
		b.Fatalf("%s: %v", what, err)
	}
}
