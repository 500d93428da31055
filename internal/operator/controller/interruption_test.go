//go:build !race

// Builds with the race detector omit this test, because only one goroutine reconciles, and the test repeats the same
// steps many times.

package controller_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// disconnector disconnects an operator from the API server after its n-th write.
type disconnector struct {
	next http.RoundTripper
	// loseAnswer lets the n-th write succeed and drops its response.
	loseAnswer bool

	mu     sync.Mutex
	left   int
	closed bool
	cut    chan struct{}
}

// errDisconnected is the error for all requests after the disconnection.
var errDisconnected = errors.New("disconnected")

// RoundTrip sends the request, or fails if the operator is disconnected.
func (k *disconnector) RoundTrip(request *http.Request) (*http.Response, error) {
	lost, refused := k.countWrite(request)
	if refused {
		return nil, errDisconnected
	}
	response, err := k.next.RoundTrip(request)
	if lost && err == nil {
		_ = response.Body.Close()
		return nil, errDisconnected
	}
	return response, err
}

// countWrite counts a write. It reports whether the response to the request must be dropped, and whether the request
// must be refused.
func (k *disconnector) countWrite(request *http.Request) (lost, refused bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	write := request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/events") &&
		!strings.Contains(request.URL.Path, names.OperatorNamespace)
	if !write {
		return false, k.closed
	}
	if k.closed || k.left == 0 {
		k.close()
		return false, true
	}
	k.left--
	if k.left == 0 && k.loseAnswer {
		k.close()
		return true, false
	}
	return false, false
}

// close disconnects the operator.
func (k *disconnector) close() {
	if !k.closed {
		k.closed = true
		close(k.cut)
	}
}

// reconcileUntilDisconnected starts an operator that is disconnected after n writes, and waits until that happens or
// until `done` reports that no more writes were needed.
func reconcileUntilDisconnected(
	t *testing.T, env *controllertest.Environment, n int, loseAnswer bool, done func() error,
) (wasCut bool) {
	t.Helper()
	k := &disconnector{left: n, loseAnswer: loseAnswer, cut: make(chan struct{})}
	o := env.StartReconciler(t, "cut", func(next http.RoundTripper) http.RoundTripper {
		k.next = next
		return k
	})
	controllertest.WaitUntil(t, func() error {
		select {
		case <-k.cut:
			wasCut = true
			return nil
		default:
			return done()
		}
	})
	o.Stop(t)
	return wasCut
}

var all = flag.Bool("all", false, "disconnect the operator after every write (make test-faults), and not only after some of them")

// disconnections calls a function with the number of the write after which the operator is disconnected: without the
// flag -all, this is the given one. The function reports whether the operator made that many writes.
func disconnections(t *testing.T, one int, disconnect func(n int) (wasCut bool)) {
	t.Helper()
	if !*all {
		if !disconnect(one) {
			t.Errorf("the operator makes fewer than %d writes, so the test disconnects nothing", one)
		}
		return
	}
	n := 0
	for disconnect(n) {
		n++
	}
	t.Logf("the result is the same after a disconnection after any of %d writes", n)
	if n < one {
		t.Errorf("the test counts only %d writes", n)
	}
}

// checkObserved returns an error unless the status describes the current generation of the stack.
func checkObserved(t *testing.T, env *controllertest.Environment, name string) error {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, name, stack)
	if stack.Status.ObservedGeneration != stack.Generation {
		return fmt.Errorf("generation %d, observed %d", stack.Generation, stack.Status.ObservedGeneration)
	}
	return nil
}

// TestPreflightDisconnectAfterWrites checks that an operator can be disconnected after any of its writes: the next
// operator continues with the same pod, and never creates a second one.
func TestPreflightDisconnectAfterWrites(t *testing.T) {
	t.Parallel()
	some := map[bool]int{false: 3, true: 4} // before and after the write that creates the pod
	created := false
	for _, loseAnswer := range []bool{false, true} {
		disconnections(t, some[loseAnswer], func(n int) bool {
			env := controllertest.NewEnvironment(t)
			first := env.StartWithReadyStack(t, controllertest.VolumeSpec)
			first.Stop(t)
			env.TerminateDeletedPods(t)
			before := env.GetDeployment(t)
			env.UpdateSpec(t, "my", controllertest.ChangedVolumeSpec)
			wasCut := reconcileUntilDisconnected(t, env, n, loseAnswer && n > 0,
				func() error { return checkObserved(t, env, "my") })
			made := env.ListPreflightPods(t)
			created = created || len(made) == 1
			env.StartReconciler(t, env.Namespace+"-after")
			pod := env.WaitForPreflightPod(t, nil)
			if len(made) > 1 || len(made) == 1 && made[0].UID != pod.UID {
				t.Errorf("disconnected after write %d: another pod was created", n)
			}
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightInProgress)
			env.CheckDeploymentUnchanged(t, before)
			env.AssignToNode(t, pod)
			env.SetPodStatus(t, pod, controllertest.ContainersReadyStatus())
			env.WaitForDeploymentUpdate(t, before)
			env.WaitForNoPreflight(t)
			return wasCut
		})
	}
	if !created {
		t.Error("no operator was disconnected after it had created a pod")
	}
}
