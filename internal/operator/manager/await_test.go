package manager

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

var hasty = wait.Backoff{Duration: time.Millisecond}

// An operator that starts while the API server is unavailable waits for the API server. Meanwhile, the operator's
// liveness probe succeeds and its readiness probe fails. When the API server becomes available, the operator frees the
// address for the manager.
func TestAwaitAPIServer(t *testing.T) {
	var calls atomic.Int32
	health := make(chan int, 2)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testutil.Must(t, err)
	address := listener.Addr().String()
	_ = listener.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			health <- statusOf(r.Context(), t, "http://"+address+path)
		}
	}))
	defer server.Close()
	testutil.Must(t, awaitAPIServer(t.Context(), &rest.Config{Host: server.URL}, address, hasty))
	if alive, ready := <-health, <-health; calls.Load() != 3 || alive != http.StatusOK ||
		ready != http.StatusServiceUnavailable {
		t.Errorf("after %d calls; meanwhile /healthz answered %d and /readyz %d", calls.Load(), alive, ready)
	}
	if listener, err = net.Listen("tcp", address); err != nil {
		t.Fatalf("the manager cannot listen: %v", err)
	}
	_ = listener.Close()
}

// An available API server receives one request. An API server that rejects the request does not delay the start,
// because a later call reports the error. A canceled start ends immediately.
func TestAwaitAPIServerWithoutDelay(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx    context.Context
		answer int
		calls  int32
	}{
		"ready":   {t.Context(), http.StatusOK, 1},
		"refuses": {t.Context(), http.StatusForbidden, 1},
		"ended":   {ended, http.StatusOK, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.WriteHeader(tc.answer)
			}))
			defer server.Close()
			if err := awaitAPIServer(tc.ctx, &rest.Config{Host: server.URL}, "127.0.0.1:0", startAttempts); err != nil ||
				calls.Load() != tc.calls {
				t.Errorf("after %d calls: %v", calls.Load(), err)
			}
		})
	}
}

func statusOf(ctx context.Context, t *testing.T, url string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Error(err)
		return 0
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}
