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

// disconnector disconnects an operator from the API server at its n-th write. The write arrives, but its response is
// lost. A write that does not arrive has the same effect as a write that the operator has not yet made.
type disconnector struct {
	next http.RoundTripper

	mu   sync.Mutex
	left int
	cut  chan struct{}
}

// errDisconnected is the error for all requests from the disconnection on.
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
	if k.left == 0 {
		return false, true
	}
	if request.Method == http.MethodGet || strings.Contains(request.URL.Path, "/events") ||
		strings.Contains(request.URL.Path, names.OperatorNamespace) {
		return false, false
	}
	if k.left--; k.left == 0 {
		close(k.cut)
	}
	return k.left == 0, false
}

// reconcileUntilDisconnected starts an operator that is disconnected at its n-th write, and waits until that happens or
// until `done` reports that no more writes were needed.
func reconcileUntilDisconnected(t *testing.T, env *controllertest.Environment, n int, done func() error) (wasCut bool) {
	t.Helper()
	k := &disconnector{left: n, cut: make(chan struct{})}
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

var all = flag.Bool("all", false, "disconnect the operator at every write (make test-faults), and not only at one")

// TestPreflightDisconnectAfterWrites checks that an operator can be disconnected at any of its writes: the next
// operator continues with the same pod, and never creates a second one.
func TestPreflightDisconnectAfterWrites(t *testing.T) {
	t.Parallel()
	n, created := 4, false // the fourth write creates the pod
	if *all {
		n = 1
	}
	for wasCut := true; wasCut; n++ {
		env := controllertest.NewEnvironment(t)
		first := env.StartWithReadyStack(t, controllertest.VolumeSpec)
		first.Stop(t)
		env.TerminateDeletedPods(t)
		before := env.GetDeployment(t)
		env.UpdateSpec(t, "my", controllertest.ChangedVolumeSpec)
		wasCut = reconcileUntilDisconnected(t, env, n, func() error {
			if stack := env.GetStack(t); stack.Status.ObservedGeneration != stack.Generation {
				return fmt.Errorf("generation %d, observed %d", stack.Generation, stack.Status.ObservedGeneration)
			}
			return nil
		})
		made := env.ListPreflightPods(t)
		created = created || wasCut && len(made) == 1
		env.StartReconciler(t, env.Namespace+"-after")
		pod := env.WaitForPreflightPod(t, nil)
		if len(made) > 1 || len(made) == 1 && made[0].UID != pod.UID {
			t.Errorf("disconnected at write %d: another pod was created", n)
		}
		env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightInProgress)
		env.CheckDeploymentUnchanged(t, before)
		passPreflight(t, env, pod, before)
		if !*all {
			break
		}
	}
	if !created {
		t.Error("no operator was disconnected after it had created a pod")
	}
}
