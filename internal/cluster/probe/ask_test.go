package probe_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
)

// TestAskDoesNotWait checks that Ask returns immediately while the server hangs, because a reconcile calls it.
func TestAskDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int32
		release, ended := make(chan struct{}), make(chan error)
		p := probe.New(probe.Options{Locate: at(podAddress), Dial: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			<-release
			return nil, errors.New("the test has ended")
		}, Notify: func(context.Context, types.NamespacedName) {}})
		ctx, stop := context.WithCancel(t.Context())
		go func() { ended <- p.Start(ctx) }()
		for range 3 {
			began := time.Now()
			p.Ask(probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321})
			if took := time.Since(began); took != 0 {
				t.Errorf("Ask took %v", took)
			}
			synctest.Wait()
		}
		if got := dials.Load(); got != 1 {
			t.Errorf("%d connections, want 1", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		close(release)
	})
}
