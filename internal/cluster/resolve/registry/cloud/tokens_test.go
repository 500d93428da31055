package cloud

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// pass advances the time in a synctest bubble.
func pass(some time.Duration) { <-time.After(some) }

// giver returns numbered tokens, which expire when the time `life` has passed. Each request takes a second.
type giver struct {
	mu    sync.Mutex
	life  time.Duration
	err   error
	given int
}

func (g *giver) fetch() (credentials, error) {
	pass(time.Second)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.given++
	return credentials{authn.AuthConfig{Password: strconv.Itoa(g.given)}, time.Now().Add(g.life)}, g.err
}

func (g *giver) now(life time.Duration, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.life, g.err = life, err
}

// TestTokensOverTime follows the tokens for one key over time, and checks the results of `get` while the cloud fails.
func TestTokensOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, from := newTokens(), &giver{life: time.Hour}
		want := func(after time.Duration, password string, wantErr error, given int) {
			t.Helper()
			pass(after)
			got, err := kept.get(t.Context(), "key", from.fetch)
			if got.Password != password || !errors.Is(err, wantErr) || from.given != given {
				t.Fatalf("got %q, %v after %d attempts, want %q, %v after %d", got.Password, err, from.given, password, wantErr, given)
			}
		}
		down := fail(imagename.AWS, &statusError{status: 503, pause: time.Minute}, "")
		want(0, "1", nil, 1)
		want(54*time.Minute, "1", nil, 1) // one minute before renewal
		from.now(time.Hour, down)
		want(2*time.Minute, "1", nil, 2)  // renewal fails, and the token is still valid
		want(30*time.Second, "1", nil, 2) // no request before the pause is over
		want(40*time.Second, "1", nil, 3) // the next attempt
		want(5*time.Minute, "", down, 4)  // expired
		want(30*time.Second, "", down, 4) // the cloud requires a longer pause
		from.now(time.Hour, errNonsense)
		want(time.Minute, "", errNonsense, 5)
		want(10*time.Second, "", errNonsense, 5)
		from.now(time.Minute, nil)
		want(11*time.Second, "6", nil, 6) // short life
		want(30*time.Second, "6", nil, 6)
		want(20*time.Second, "7", nil, 7)
		from.now(1000*time.Hour, nil)
		want(time.Hour, "8", nil, 8)
		want(11*time.Hour, "8", nil, 8)
		want(time.Hour, "9", nil, 9) // the lifetime is bounded
	})
}

// TestTokensForget checks that a token that a registry does not accept is replaced, unless the token is new.
func TestTokensForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, from := newTokens(), &giver{life: time.Hour}
		for i, want := range []string{"1", "1", "2", "2"} {
			got, err := kept.get(t.Context(), "key", from.fetch)
			if err != nil || got.Password != want {
				t.Errorf("%d: got %q, %v, want %q", i, got.Password, err, want)
			}
			pass(3 * time.Minute)
			kept.forget("key")
			kept.forget("another")
		}
	})
}

// TestTokensTogether checks that all callers share one attempt, and that the attempt continues when the context of one
// caller ends.
func TestTokensTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, from := newTokens(), &giver{life: time.Hour}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if got, err := kept.get(t.Context(), "key", from.fetch); err != nil || got.Password != "1" {
					t.Errorf("got %q, %v", got.Password, err)
				}
			})
		}
		leaving, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		if _, err := kept.get(leaving, "key", from.fetch); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller whose context ended got %v", err)
		}
		all.Wait()
		if from.given != 1 {
			t.Errorf("%d attempts, want one", from.given)
		}
		if got, err := kept.get(t.Context(), "another", from.fetch); err != nil || got.Password != "2" {
			t.Errorf("another key got %q, %v", got.Password, err)
		}
	})
}

// TestTokensAreBounded checks that the number of tokens is bounded.
func TestTokensAreBounded(t *testing.T) {
	kept := newTokens()
	for i := range maxTokens + 10 {
		_, err := kept.get(t.Context(), strconv.Itoa(i), func() (credentials, error) {
			return credentials{expires: time.Now().Add(time.Hour)}, nil
		})
		testutil.Must(t, err)
	}
	if kept.kept.Len() != maxTokens {
		t.Errorf("%d tokens are kept, want %d", kept.kept.Len(), maxTokens)
	}
}
