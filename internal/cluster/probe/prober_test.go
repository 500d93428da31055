package probe_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	soon  = 10 * time.Second
	retry = 5 * time.Millisecond
)

// podAddress is the address of the server of each stack.
const podAddress = "10.1.2.3"

// at returns a function that locates every server at an address.
func at(address string) probe.Locate {
	return func(context.Context, probe.Target) (netip.Addr, error) { return netip.ParseAddr(address) }
}

func stack(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "ns", Name: name}
}

// bench is a prober that connects to one test server for all stacks.
type bench struct {
	*probe.Prober
	requests atomic.Int32
	// certificate is the SHA-256 of the server's certificate, if the server uses TLS.
	certificate string

	mu        sync.Mutex
	log       strings.Builder
	hosts     []string
	addresses []string
	told      []string
}

func start(t *testing.T, handler http.HandlerFunc, secure bool) *bench {
	t.Helper()
	return startWith(t, probe.Options{}, handler, secure)
}

func startWith(t *testing.T, options probe.Options, handler http.HandlerFunc, secure bool) *bench {
	t.Helper()
	b := &bench{}
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.hosts = append(b.hosts, r.Host+r.URL.Path)
		b.mu.Unlock()
		b.requests.Add(1)
		handler(w, r)
	})
	server := httptest.NewUnstartedServer(counted)
	if secure {
		server.StartTLS()
		sum := sha256.Sum256(server.Certificate().Raw)
		b.certificate = hex.EncodeToString(sum[:])
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	options.FirstRetry = retry
	if options.Locate == nil {
		options.Locate = at(podAddress)
	}
	options.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		b.mu.Lock()
		b.addresses = append(b.addresses, address)
		b.mu.Unlock()
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	options.Notify = func(_ context.Context, stack types.NamespacedName) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.told = append(b.told, stack.Name)
	}
	options.Log = funcr.New(func(prefix, args string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.log.WriteString(prefix + args + "\n")
	}, funcr.Options{Verbosity: 1})
	b.Prober = probe.New(options)
	b.run(t)
	return b
}

// run runs the prober until the test ends.
func (b *bench) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- b.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func (b *bench) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

func (b *bench) toldOf() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.told...)
}

// quiet waits until no request has arrived for much longer than the pause between two attempts, and returns the number
// of requests.
func (b *bench) quiet(t *testing.T) int32 {
	t.Helper()
	last, since := b.requests.Load(), time.Now()
	err := wait.PollUntilContextTimeout(t.Context(), retry, soon, true, func(context.Context) (bool, error) {
		if now := b.requests.Load(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 50*retry, nil
	})
	if err != nil {
		t.Fatalf("the requests do not end: %d requests", last)
	}
	return last
}

// answer serves a version and an empty list of providers. It does not serve a list of models.
func answer(version string) http.HandlerFunc { return answering(version, `{"data": []}`) }

func answering(version, providers string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/version":
			fmt.Fprintf(w, `{"version": %q}`, version)
		case "/v1/providers":
			fmt.Fprint(w, providers)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

// TestVersion checks that the prober queries a server once for each rollout, at its address, and that it calls Notify.
func TestVersion(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %t", secure), func(t *testing.T) {
			b := start(t, answer("0.7.1"), secure)
			first := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321, TLS: secure}
			ask := func(target probe.Target) {
				t.Helper()
				testutil.Within(t, soon, func() error {
					if got := b.Ask(target).Version; got != "0.7.1" {
						return fmt.Errorf("version %q", got)
					}
					return nil
				})
			}
			ask(first)
			ask(first)
			if got := b.quiet(t); got != 3 {
				t.Errorf("%d requests for one rollout", got)
			}
			second := first
			second.Rollout = "2"
			if got := b.Ask(second).Version; got != "" {
				t.Errorf("the next rollout has version %q before the server has answered", got)
			}
			ask(second)
			if got := b.quiet(t); got != 6 {
				t.Errorf("%d requests for two rollouts", got)
			}
			if diff := cmp.Diff([]string{"my", "my"}, b.toldOf()); diff != "" {
				t.Errorf("notified stacks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(slices.Repeat([]string{podAddress + ":8321"}, 6), b.addresses); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			const address = "my-service.ns.svc:8321" // only the server sees it
			if diff := cmp.Diff([]string{address + "/v1/version", address + "/v1/providers", address + "/v1/models"},
				b.hosts[:3]); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// status responds with a status and a secret.
func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, canary)
	}
}

func elsewhere(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, "http://elsewhere/"+canary, http.StatusFound)
}

func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := fmt.Fprint(w, strings.Repeat("x", 1024)); err != nil {
			return
		}
	}
}

// whenGood responds with the status 503 while good is false.
func whenGood(good *atomic.Bool, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if good.Load() {
			next(w, r)
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// TestNoVersion checks that the prober retries a temporary failure a few times, and does not retry a final one. It also
// checks that the prober calls Notify only when the result is final.
func TestNoVersion(t *testing.T) {
	for name, tc := range map[string]struct {
		handler  http.HandlerFunc
		requests int32
	}{
		"server error":      {status(500), 5},
		"unavailable":       {status(503), 5},
		"too many requests": {status(429), 5},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, `{"version"`)
		}, 5},
		"authentication (0.2)":       {status(401), 1},
		"forbidden":                  {status(403), 1},
		"no such path":               {status(404), 1},
		"redirect":                   {elsewhere, 1},
		"not JSON":                   {sending("<html>"), 1},
		"no version":                 {sending(`{}`), 1},
		"not a version":              {sending(`{"version": "see <a href='http://x'>"}`), 1},
		"not a string":               {sending(`{"version": {"a": 1}}`), 1},
		"a version that is too long": {sending(`{"version": "1.` + strings.Repeat("0", 100) + `"}`), 1},
		"too large":                  {sending(`{"version": "0.7.1", "x": "` + strings.Repeat("x", 5000) + `"}`), 1},
		"endless":                    {endless, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, tc.handler, false)
			target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
			b.Ask(target)
			testutil.Within(t, soon, func() error {
				if got := b.requests.Load(); got != tc.requests {
					return fmt.Errorf("%d requests, want %d", got, tc.requests)
				}
				return nil
			})
			if got := b.Ask(target).Version; got != "" {
				t.Errorf("version %q", got)
			}
			if got := b.quiet(t); got != tc.requests {
				t.Errorf("%d requests, want %d", got, tc.requests)
			}
			if diff := cmp.Diff(probe.Answer{Concluded: true}, b.Ask(target)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"my"}, b.toldOf()); diff != "" {
				t.Errorf("notified stacks (-want +got):\n%s", diff)
			}
		})
	}
}

// TestForget checks that the prober no longer queries the server of a deleted stack, and that it queries the server of
// a stack that is created again.
func TestForget(t *testing.T) {
	b := start(t, answer("0.7.1"), false)
	target := probe.Target{Stack: stack("my"), Rollout: "1", Port: 8321}
	ask := func() {
		t.Helper()
		testutil.Within(t, soon, func() error {
			if b.Ask(target).Version == "" {
				return errors.New("no version")
			}
			return nil
		})
	}
	ask()
	b.Forget(target.Stack)
	if got := b.quiet(t); got != 3 {
		t.Errorf("%d requests, want 3", got)
	}
	if got := b.Ask(target).Version; got != "" {
		t.Errorf("the version is still %q", got)
	}
	ask()
}

// TestRate checks that many new stacks do not cause many requests at the same time.
func TestRate(t *testing.T) {
	b := start(t, answer("0.7.1"), false)
	began := time.Now()
	const stacks = 20
	b.askMany(stacks)
	testutil.Within(t, soon, func() error {
		if got := len(b.toldOf()); got != stacks {
			return fmt.Errorf("%d answers", got)
		}
		return nil
	})
	// Each server receives three requests. The first ten requests are not delayed, and the others follow at ten per
	// second.
	if took := time.Since(began); took < 2800*time.Millisecond {
		t.Errorf("%d servers were queried in %v", stacks, took)
	}
}

func (b *bench) askMany(stacks int) {
	for i := range stacks {
		b.Ask(probe.Target{Stack: stack(fmt.Sprintf("s%d", i)), Rollout: "1", Port: 8321})
	}
}

// TestManyServersHang checks that the number of requests to servers that hang is bounded, in total and for each
// namespace, and that other servers are queried after the timeouts.
func TestManyServersHang(t *testing.T) {
	var at, most atomic.Int32
	b := startWith(t, probe.Options{Timeout: 2 * time.Second}, func(_ http.ResponseWriter, r *http.Request) {
		if now := at.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer at.Add(-1)
		<-r.Context().Done()
	}, false)
	const stacks = 40
	for i := range stacks {
		of := types.NamespacedName{Namespace: fmt.Sprintf("ns%d", i%5), Name: fmt.Sprint(i)}
		b.Ask(probe.Target{Stack: of, Rollout: "1", Port: 8321})
	}
	testutil.Within(t, soon, func() error {
		if got := b.requests.Load(); got < stacks {
			return fmt.Errorf("%d requests", got)
		}
		return nil
	})
	// The number can briefly exceed the limit, because a server detects a closed connection after a short delay.
	if got := most.Load(); got < 12 || got > 14 {
		t.Errorf("%d requests at the same time, want 12 of 16: the others are for other namespaces", got)
	}
}
