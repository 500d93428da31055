package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// The servers of the namespace "loud" have the address loudAddress, and those of "calm" have calmAddress.
var loudAddress, calmAddress = netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")

func locateIn(_ context.Context, target Target) (netip.Addr, error) {
	if target.Stack.Namespace == "calm" {
		return calmAddress, nil
	}
	return loudAddress, nil
}

// tarpit is the network of a test: the servers of a namespace behave as the function says.
// The time of the test is that of a synctest bubble.
type tarpit struct {
	serve   map[string]func(net.Conn)
	servers sync.WaitGroup

	mu     sync.Mutex
	dialed map[string][]time.Time // by namespace
}

func (p *tarpit) dial(_ context.Context, _, address string) (net.Conn, error) {
	namespace := "loud"
	if strings.HasPrefix(address, calmAddress.String()) {
		namespace = "calm"
	}
	local, remote := net.Pipe()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialed[namespace] = append(p.dialed[namespace], time.Now())
	p.servers.Go(func() {
		p.serve[namespace](remote)
		_ = remote.Close()
	})
	return local, nil
}

// of returns the times at which the servers of a namespace were dialed.
func (p *tarpit) of(namespace string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.dialed[namespace])
}

// silent reads requests until the client leaves, and never responds.
func silent(c net.Conn) {
	buffer := make([]byte, 4096)
	for {
		if _, err := c.Read(buffer); err != nil {
			return
		}
	}
}

// respond sends a response after the request, in parts with a pause after each of them.
func respond(c net.Conn, pause time.Duration, parts ...string) {
	_, _ = c.Read(make([]byte, 4096))
	for _, part := range parts {
		if _, err := c.Write([]byte(part)); err != nil {
			return
		}
		<-time.After(pause)
	}
}

func notFound(c net.Conn) { respond(c, 0, "HTTP/1.1 404 x\r\nContent-Length: 0\r\n\r\n") }

// inBubble starts a prober with the options of an operator, and passes it to the function `check`.
func inBubble(t *testing.T, pit *tarpit, check func(*testing.T, *Prober)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		pit.dialed = map[string][]time.Time{}
		prober := New(Options{Locate: locateIn, Dial: pit.dial, Notify: func(context.Context, types.NamespacedName) {}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- prober.Start(ctx) }()
		check(t, prober)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		pit.servers.Wait()
	})
}

// TestSilentServersOfANamespace checks that the silent servers of one namespace use only its share of the workers, so
// that the server of another namespace is queried at once.
func TestSilentServersOfANamespace(t *testing.T) {
	pit := &tarpit{serve: map[string]func(net.Conn){"loud": silent, "calm": notFound}}
	inBubble(t, pit, func(t *testing.T, prober *Prober) {
		for i := range 160 {
			prober.Ask(target("loud", fmt.Sprint(i)))
		}
		<-time.After(time.Second)
		if got := len(pit.of("loud")); got != perNamespace {
			t.Errorf("%d requests at the same time for one namespace, want %d", got, perNamespace)
		}
		began := time.Now()
		prober.Ask(target("calm", "a"))
		<-time.After(time.Minute)
		dialed := pit.of("calm")
		if len(dialed) != 1 {
			t.Fatalf("%d connections to the other namespace, want 1", len(dialed))
		}
		if waited := dialed[0].Sub(began); waited > time.Second/perSecond {
			t.Errorf("the server of the other namespace waits for %v", waited)
		}
	})
}

// TestDrippingServer checks that a server that sends each of its responses slowly occupies a worker only for the time
// of one attempt, although every response arrives before the timeout of its request.
func TestDrippingServer(t *testing.T) {
	answers := []string{`{"version": "0.7.1"}`, `{"data": []}`, `{"data": []}`, `{"data": []}`}
	sent := 0
	drip := func(c net.Conn) {
		body := answers[sent]
		sent++
		respond(c, defaultTimeout/4,
			fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(body)), body[:1], body[1:2], body[2:])
	}
	pit := &tarpit{serve: map[string]func(net.Conn){"loud": drip}}
	inBubble(t, pit, func(t *testing.T, prober *Prober) {
		began := time.Now()
		found := prober.ask(t.Context(), target("loud", "a"), &Answer{})
		if found.version != "0.7.1" || found.err == nil && found.modelsErr == nil {
			t.Errorf("got %+v, want the version, and an error for a later request", found)
		}
		if took := time.Since(began); took > attemptTimeouts*defaultTimeout {
			t.Errorf("the attempt took %v, want at most %v", took, attemptTimeouts*defaultTimeout)
		}
	})
}

func target(namespace, name string) Target {
	return Target{Stack: types.NamespacedName{Namespace: namespace, Name: name}, Rollout: "1", Port: 1}
}

// BenchmarkTenants measures how long the server of one namespace waits for its first request behind 160 silent servers
// of another namespace.
func BenchmarkTenants(b *testing.B) {
	for b.Loop() {
		pit := &tarpit{
			serve:  map[string]func(net.Conn){"loud": silent, "calm": notFound},
			dialed: map[string][]time.Time{},
		}
		prober := New(Options{Locate: locateIn, Dial: pit.dial, Notify: func(context.Context, types.NamespacedName) {}})
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error)
		go func() { ended <- prober.Start(ctx) }()
		for i := range 160 {
			prober.Ask(target("loud", fmt.Sprint(i)))
		}
		<-time.After(time.Second)
		began := time.Now()
		prober.Ask(target("calm", "a"))
		for len(pit.of("calm")) == 0 {
			<-time.After(time.Millisecond)
		}
		b.ReportMetric(pit.of("calm")[0].Sub(began).Seconds(), "s-silent")
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		pit.servers.Wait()
	}
}
