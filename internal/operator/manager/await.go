package manager

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/listener"
)

// askTimeout bounds how long the API server may take to report that it is ready.
const askTimeout = 10 * time.Second

// startAttempts is the backoff between attempts to reach an unavailable API server when the operator starts. The pauses
// grow to between two and four seconds.
var startAttempts = wait.Backoff{
	Duration: 500 * time.Millisecond, Factor: 2, Cap: 2 * time.Second,
	Steps: math.MaxInt32, Jitter: 1,
}

// awaitAPIServer waits until the API server is available or ctx ends. It ignores any other error from the API server,
// because a later call reports that error. If an operator loses its lease because the API server is unavailable, it
// exits, and starts again while the API server is still unavailable. If it exited again, the kubelet's backoff would
// grow to five minutes. While the operator waits, its liveness probe succeeds and its readiness probe fails.
func awaitAPIServer(ctx context.Context, config *rest.Config, healthAddress string, pauses wait.Backoff) error {
	config = rest.CopyConfig(config)
	config.Timeout = askTimeout
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	ask := func() ([]byte, error) { return client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx) }
	if _, err := ask(); !informer.Unavailable(err) {
		return nil
	}
	stop, err := serveWaiting(ctx, healthAddress)
	if err != nil {
		return err
	}
	_, _ = informer.Answered(ctx, pauses, ask) // the next call reports any other problem
	return stop()
}

// serveWaiting serves a successful liveness probe and a failing readiness probe until it is stopped.
func serveWaiting(ctx context.Context, address string) (stop func() error, err error) {
	if address == "" || address == "0" { // The manager also treats these values as disabled.
		return func() error { return nil }, nil
	}
	open, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for health checks: %w", err)
	}
	paths := http.NewServeMux()
	paths.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	paths.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the API server is not available", http.StatusServiceUnavailable)
	})
	server := listener.New("health", open, nil, paths, listener.Few)
	ended := make(chan error, 1)
	go func() { ended <- server.Server.Serve(server.Listener) }()
	return func() error {
		closed := server.Server.Close() // This frees the address for the manager.
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve health checks: %w", err)
		}
		return closed
	}, nil
}
