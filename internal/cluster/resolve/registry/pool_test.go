package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

func runPool(t *testing.T, server *served, credentials func(Target) (authn.Keychain, error)) (*Pool, *atomic.Int32) {
	t.Helper()
	var told atomic.Int32
	pool := NewPool(PoolOptions{
		FirstRetry: time.Millisecond,
		LookAgain:  time.Millisecond,
		Fresh:      time.Nanosecond,
		Credentials: func(_ context.Context, target Target, _ []string) (authn.Keychain, error) {
			return credentials(target)
		},
		Notify: func(context.Context, types.NamespacedName) { told.Add(1) },
	})
	pool.Configure(Options{Insecure: []string{server.host}, Timeout: 5 * time.Second})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pool.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return pool, &told
}

func anonymous(Target) (authn.Keychain, error) { return &Keychain{}, nil }

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 20*time.Second, true,
		func(context.Context) (bool, error) { return check(), nil })
	if err != nil {
		t.Fatalf("timed out: %s", what)
	}
}

func target(name, image string) Target {
	return Target{Stack: types.NamespacedName{Namespace: "ns", Name: name}, Image: image}
}

func TestPool(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "test/pool:1", image(t, map[string]string{LabelBase64: encoded(config)}))
	var down atomic.Bool
	server.instead(func(w http.ResponseWriter, _ *http.Request) bool {
		if down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return down.Load()
	})
	pool, told := runPool(t, server, anonymous)

	down.Store(true)
	asked := target("my", ref)
	if outcome, ok := pool.Read(asked); ok {
		t.Fatalf("got %+v before anything was read", outcome)
	}
	eventually(t, "the failure", func() bool {
		outcome, ok := pool.Read(asked)
		return ok && outcome.Err != nil && Transient(outcome.Err)
	})
	down.Store(false)
	eventually(t, "the image", func() bool {
		outcome, ok := pool.Read(asked)
		return ok && outcome.Image != nil && string(outcome.Image.Config) == config
	})
	eventually(t, "the news", func() bool { return told.Load() >= 2 })

	// The pool reads a different image for the same stack.
	before := server.requests.Load()
	pool.Read(asked)
	other := target("my", strings.Replace(ref, ":1", ":2", 1))
	pool.Read(other)
	eventually(t, "another image", func() bool {
		outcome, ok := pool.Read(other)
		return ok && outcome.Err != nil && !Transient(outcome.Err)
	})
	if server.requests.Load() == before {
		t.Error("the other image was not read")
	}
}

// TestPoolLooksAgain checks that an image that receives its labels later is found, and that an image without labels
// causes one notification.
func TestPoolLooksAgain(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "test/later:1", image(t, map[string]string{"some": "label"}))
	pool, told := runPool(t, server, anonymous)
	asked := target("my", ref)
	pool.Read(asked)
	eventually(t, "some more reads", func() bool { return server.requests.Load() > 12 })
	if told.Load() != 1 {
		t.Errorf("%d notifications for an unchanged image", told.Load())
	}
	server.push(t, "test/later:1", image(t, map[string]string{LabelBase64: encoded(config)}))
	eventually(t, "the label", func() bool {
		outcome, _ := pool.Read(asked)
		return outcome.Image != nil && string(outcome.Image.Config) == config
	})
	eventually(t, "the news", func() bool { return told.Load() == 2 })
}

// broken panics when its credentials are requested for the nth time.
type broken struct {
	asked atomic.Int32
	nth   int32
}

func (b *broken) Resolve(authn.Resource) (authn.Authenticator, error) { return b, nil }

func (b *broken) Authorization() (*authn.AuthConfig, error) {
	if b.asked.Add(1) >= b.nth {
		panic("a defect")
	}
	return &authn.AuthConfig{}, nil
}

// TestPoolOutlivesPanics checks that a defect that one image triggers leads to an error for that image only, before the
// request (1) and during it (2). No later read of the image waits for the one that panicked.
func TestPoolOutlivesPanics(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "test/panic:1", image(t, nil))
	for _, nth := range []int32{1, 2} {
		pool, _ := runPool(t, server, func(target Target) (authn.Keychain, error) {
			if target.Stack.Name == "my" {
				return &broken{nth: nth}, nil
			}
			return &Keychain{}, nil
		})
		eventually(t, "three attempts", func() bool {
			outcome, _ := pool.Read(target("my", ref))
			pool.mu.Lock()
			defer pool.mu.Unlock()
			return errors.Is(outcome.Err, errDefect) && pool.tasks[key{stack: target("my", ref).Stack}].failures > 2
		})
		eventually(t, "another stack", func() bool {
			outcome, _ := pool.Read(target("other", ref))
			return outcome.Image != nil
		})
		pool.Forget(target("my", ref).Stack)
		eventually(t, "the shares and the requests", func() bool {
			pool.mu.Lock()
			defer pool.mu.Unlock()
			pool.reader.mu.Lock()
			defer pool.reader.mu.Unlock()
			return len(pool.inUse) == 0 && len(pool.reader.flights) == 0
		})
	}
}

// TestSlowNamespacesLeaveRoom checks that the namespaces of one user, whose reads never end before their time, do not
// take every share of the pool: neither at once, nor after their first reads.
func TestSlowNamespacesLeaveRoom(t *testing.T) {
	for _, after := range []time.Duration{time.Second, time.Minute + time.Second} {
		synctest.Test(t, func(t *testing.T) { readBesideSlowNamespaces(t, after) })
	}
}

func readBesideSlowNamespaces(t *testing.T, after time.Duration) {
	t.Helper()
	var at atomic.Pointer[time.Time]
	pool := NewPool(PoolOptions{
		Credentials: func(ctx context.Context, target Target, _ []string) (authn.Keychain, error) {
			if target.Stack.Namespace == "calm" {
				at.CompareAndSwap(nil, new(time.Now())) // the first attempt
				return nil, errors.New("no credentials")
			}
			select {
			case <-time.After(15 * time.Second):
			case <-ctx.Done():
			}
			return nil, errors.New("no answer")
		},
		Notify: func(context.Context, types.NamespacedName) {},
	})
	read := func(namespace string, i int) {
		pool.Read(Target{
			Stack: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)},
			Image: fmt.Sprintf("%s-%d.example.com/x:1", namespace, i),
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- pool.Start(ctx) }()
	for namespace := range 8 {
		for i := range 20 {
			read(fmt.Sprint("loud-", namespace), i)
		}
	}
	<-time.After(after)
	began := time.Now()
	read("calm", 0)
	<-time.After(time.Minute)
	if got := at.Load(); got == nil || got.Sub(began) > time.Second {
		t.Errorf("after %v, another namespace began to read at %v, want at once (%v)", after, got, began)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
