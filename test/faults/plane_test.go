package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// planes lists the faults in the control plane, in clocks, and in leader election.
var planes = []fault{
	{name: "the API server is restarted", slow: true, strikes: []strike{restartAPIServer}, spec: changed},
	{name: "every response from etcd is delayed by a second", slow: true, strikes: []strike{slowEtcd}, spec: changed},
	{name: "the clock was a year ahead", strikes: []strike{clockAhead}, spec: changed},
	{name: "the leader loses its lease in the middle of a change", slow: true, strikes: []strike{loseLease}, spec: changed},
	{name: "the API server is unavailable, and the only operator exits", slow: true, strikes: []strike{loseAPIServer}, spec: changed},
	{name: "an unknown holder has the lease, and the lease's timestamp is an hour in the future", slow: true, strikes: []strike{leaseAhead}, spec: changed},
}

// restartAPIServer restarts the API server in the middle of a change.
func restartAPIServer(t *testing.T, th *theatre, _ *stage) func() {
	t.Helper()
	return func() {
		eventually(t, "the operator's writes", func() error { return th.operator.wrote(2) })
		testutil.Must(t, th.Plane.StopAPIServer())
		testutil.Must(t, th.Plane.StartAPIServer())
	}
}

// wrote returns an error until the operator has made n writes.
func (g *gate) wrote(n int) error {
	if written := g.written(); written < n {
		return fmt.Errorf("%d writes", written)
	}
	return nil
}

// slowEtcd delays the data between the API server and etcd in both directions. The delay ends when the operator has
// made several writes for a change.
func slowEtcd(t *testing.T, th *theatre, _ *stage) func() {
	t.Helper()
	th.etcd.delay.Store(int64(time.Second / 2)) // half a second in each direction
	return func() {
		eventually(t, "the operator's writes", func() error { return th.operator.wrote(8) })
		th.etcd.delay.Store(0)
	}
}

// clockAhead writes times in the future into the status, as an operator with a wrong clock would. Then it starts a new
// operator.
func clockAhead(t *testing.T, th *theatre, s *stage) func() {
	t.Helper()
	th.operator.kill(t)
	stack := &v1alpha2.LlamaStackDistribution{}
	s.get(t, stackName, stack)
	patch := client.MergeFrom(stack.DeepCopy())
	for i := range stack.Status.Conditions {
		stack.Status.Conditions[i].LastTransitionTime = metav1.NewTime(time.Now().AddDate(1, 0, 0))
	}
	testutil.Must(t, s.Status().Patch(t.Context(), stack, patch))
	return func() { th.operator.start(t) }
}

// electing lists the flags for a quick leader election.
var electing = []string{
	"--leader-elect", "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
	"--leader-elect-retry-period=500ms",
}

// loseLease delays the leader's second write and drops its lease renewals until another operator is the leader and has
// made a write.
func loseLease(t *testing.T, th *theatre, _ *stage) func() {
	t.Helper()
	th.operator.kill(t)
	first := th.startOperator(t, electing...)
	eventually(t, "the first operator is the leader", func() error { return th.led(t, "") })
	holder := th.holder(t)
	second := th.startOperator(t, electing...)
	release := make(chan struct{})
	first.set(func(c call) verdict {
		switch {
		case strings.Contains(c.URL.Path, "/leases/"):
			return verdict{lost: true}
		case c.write == 2:
			return verdict{hold: release}
		default:
			return verdict{}
		}
	})
	return func() {
		eventually(t, "another operator is the leader", func() error { return th.led(t, holder) })
		eventually(t, "the new leader makes a write", func() error { return second.wrote(1) })
		close(release)
		if err := first.ends(t); err == nil {
			t.Error("the operator that lost the lease exited without an error")
		}
		t.Cleanup(func() { th.operator.restart(t) })
	}
}

// loseAPIServer makes the API server unavailable. The only operator loses its lease and exits, and the test starts it
// again as the kubelet would. The operator must then keep running until the API server recovers, because the kubelet
// increases its restart delay with each exit.
func loseAPIServer(t *testing.T, th *theatre, _ *stage) func() {
	t.Helper()
	th.operator.kill(t)
	alone := th.startOperator(t, electing...)
	eventually(t, "the only operator is the leader", func() error { return th.led(t, "") })
	eventually(t, "the operator gets answers", func() error { return alone.answered(http.StatusOK) })
	alone.outage()
	return func() {
		if err := alone.ends(t); err == nil {
			t.Error("the operator that lost the lease exited without an error")
		}
		alone.outage() // resets the count of calls
		alone.start(t)
		eventually(t, "the operator repeats its calls", func() error { return alone.asked(3) })
		alone.calm()
		t.Cleanup(func() { th.operator.restart(t) })
	}
}

// leaseAhead writes a lease with times in the future. The holder of the lease no longer exists.
func leaseAhead(t *testing.T, th *theatre, _ *stage) func() {
	t.Helper()
	th.operator.kill(t)
	lease := th.lease(t)
	ahead := metav1.NewMicroTime(time.Now().Add(time.Hour))
	lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.AcquireTime = new("nobody"), &ahead, &ahead
	lease.Spec.LeaseDurationSeconds = new(int32(3))
	write := th.Update
	if lease.Name == "" {
		lease.Namespace, lease.Name = names.OperatorNamespace, names.LeaderElectionID
		write = func(ctx context.Context, object client.Object, _ ...client.UpdateOption) error {
			return th.Create(ctx, object)
		}
	}
	testutil.Must(t, write(t.Context(), lease))
	return func() {
		next := th.startOperator(t, electing...)
		eventually(t, "the operator gets answers", func() error { return next.answered(http.StatusOK) })
		t.Cleanup(func() { th.operator.restart(t) })
	}
}

func (th *theatre) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: names.OperatorNamespace, Name: names.LeaderElectionID}
	testutil.Must(t, client.IgnoreNotFound(th.Get(t.Context(), key, lease)))
	return lease
}

// holder returns the identity of the leader, or "" if there is no leader.
func (th *theatre) holder(t *testing.T) string {
	t.Helper()
	if holder := th.lease(t).Spec.HolderIdentity; holder != nil {
		return *holder
	}
	return ""
}

// led returns an error until there is a leader whose identity differs from the parameter `before`.
func (th *theatre) led(t *testing.T, before string) error {
	t.Helper()
	if holder := th.holder(t); holder == "" || holder == before {
		return fmt.Errorf("%q leads", holder)
	}
	return nil
}
