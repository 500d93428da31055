package registry

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/types"
)

// watching is a pool that counts its notifications.
type watching struct {
	*Pool
	server      *inMemory
	credentials atomic.Int64
	told        atomic.Int64
	// password is the password of the user robot. Empty means that there are no credentials.
	password atomic.Pointer[string]
}

func watch(t *testing.T, challenge string) *watching {
	t.Helper()
	w := &watching{server: serveInMemory(t, challenge)}
	w.Pool = inMemoryPool(t, w.server)
	inner := w.options.Credentials
	w.options.Credentials = func(ctx context.Context, target Target, repositories []string) (authn.Keychain, error) {
		w.credentials.Add(1)
		if password := w.password.Load(); password != nil {
			keychain := &Keychain{}
			return keychain, keychain.Add([]byte(`{"auths":{"` + memoryHost + `":{"auth":"` + encoded("robot:"+*password) +
				`"}}}`))
		}
		return inner(ctx, target, repositories)
	}
	w.options.Notify = func(context.Context, types.NamespacedName) { w.told.Add(1) }
	return w
}

func hashOf(t *testing.T, of interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	digest, err := of.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

// after advances the time, and waits until all goroutines are blocked.
func after(t *testing.T, long time.Duration) {
	t.Helper()
	pass(long)
	synctest.Wait()
}

// TestWatchManyStacks counts the requests to a registry and to the API server during a day in which many stacks use
// some tags.
func TestWatchManyStacks(t *testing.T) {
	for _, challenge := range []string{"", "Bearer"} {
		t.Run(challenge, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watch(t, challenge)
				single, index := image(t, nil), indexOf(image(t, nil))
				tags := []string{w.server.push(t, "team/one:1", single), w.server.push(t, "team/two:1", index)}
				targets := many(50, tags...)
				for _, target := range targets {
					if _, ok := w.Watch(Watched{Target: target}); ok {
						t.Fatal("there is an answer before the first request to the registry")
					}
				}
				after(t, lookAgain)
				const hours, credentials = 24, 3
				if asked := w.server.counted(); asked["HEAD"] != len(tags)*credentials || asked["GET"] > 0 {
					t.Errorf("%v in the first hour, want one HEAD for each tag and set of credentials", asked)
				}
				if got := w.credentials.Load(); got != int64(len(targets)) {
					t.Errorf("credentials were read %d times, want once for each of %d stacks", got, len(targets))
				}
				after(t, hours*time.Hour)
				want := map[string]int{"HEAD": hours * len(tags) * credentials}
				if challenge != "" {
					want["token"] = want["HEAD"]
				}
				if diff := cmp.Diff(want, w.server.counted()); diff != "" {
					t.Errorf("requests of a day (-want +got):\n%s", diff)
				}
				if got := w.credentials.Load(); got != int64(len(targets)) {
					t.Errorf("credentials were read %d times after a day without changes", got)
				}
				w.told.Store(0)
				moved := image(t, map[string]string{"another": "image"})
				w.server.push(t, "team/one:1", moved)
				after(t, lookAgain)
				digests := map[string]string{tags[0]: hashOf(t, moved), tags[1]: hashOf(t, index)}
				for _, target := range targets {
					if tag, ok := w.Watch(Watched{Target: target}); !ok || tag != (Tag{Digest: digests[target.Image]}) {
						t.Fatalf("%v: got %+v, want digest %s", target.Stack, tag, digests[target.Image])
					}
				}
				if got := w.told.Load(); got != int64(len(targets)/2) {
					t.Errorf("%d notifications, want one for each of the %d stacks of the moved tag", got, len(targets)/2)
				}
			})
		})
	}
}

// TestWatchThroughAnOutage checks the result while a registry does not respond: the last digest is kept, a single
// failure is not reported, and the pauses between requests grow.
func TestWatchThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, "")
		watched := Watched{Target: target("my", w.server.push(t, "team/one:1", image(t, nil)))}
		w.Watch(watched)
		after(t, lookAgain)
		before, _ := w.Watch(watched)
		inner := w.server.handler
		w.server.handler = http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
			writer.WriteHeader(http.StatusServiceUnavailable)
		})
		w.server.counted()
		w.told.Store(0)
		for tag, _ := w.Watch(watched); tag.Err == nil; tag, _ = w.Watch(watched) {
			if tag != before {
				t.Fatalf("got %+v, want %+v", tag, before)
			}
			after(t, time.Second)
		}
		if asked := w.server.counted()["HEAD"]; asked != toldFailures {
			t.Errorf("a failure is reported after %d attempts, want %d", asked, toldFailures)
		}
		after(t, 24*time.Hour)
		tag, _ := w.Watch(watched)
		if tag.Digest != before.Digest || statusOf(tag.Err) != http.StatusServiceUnavailable {
			t.Errorf("after a day got %+v", tag)
		}
		if asked := w.server.counted()["HEAD"]; asked < 24*4 || asked > 24*7 {
			t.Errorf("%d requests in a day without an answer", asked)
		}
		if got := w.told.Load(); got != 1 {
			t.Errorf("%d notifications, want one", got)
		}
		w.server.handler = inner
		after(t, 2*lastRetry)
		if tag, _ := w.Watch(watched); tag != before {
			t.Errorf("after the outage got %+v, want %+v", tag, before)
		}
		if got := w.told.Load(); got != 2 {
			t.Errorf("%d notifications, want one more", got)
		}
	})
}

// TestReadThroughAnOutage checks that a registry that no longer responds does not take away an image that was read
// before, and does not cause more attempts than a registry that responds.
func TestReadThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, "")
		asked := target("my", w.server.push(t, "team/one:1", image(t, nil)))
		w.Read(asked)
		after(t, lookAgain)
		before, _ := w.Read(asked)
		w.server.handler = http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
			writer.WriteHeader(http.StatusServiceUnavailable)
		})
		w.credentials.Store(0)
		w.told.Store(0)
		after(t, 24*time.Hour)
		if got, ok := w.Read(asked); !ok || before.Image == nil || got.Err != nil || got.Image.Digest != before.Image.Digest {
			t.Errorf("after a day got %+v, want %+v", got, before)
		}
		if got := w.credentials.Load(); got < 20 || got > 25 {
			t.Errorf("%d attempts in a day, want one an hour", got)
		}
		if got := w.told.Load(); got != 0 {
			t.Errorf("%d notifications, want none", got)
		}
	})
}

// TestWatchReadsNewCredentials checks that a new password is used without a failure in between.
func TestWatchReadsNewCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, "Basic")
		first, second := "first", "second"
		inner, allowed := w.server.handler, atomic.Pointer[string]{}
		w.server.handler = http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) {
			if user, password, _ := r.BasicAuth(); user == "robot" && password != *allowed.Load() && r.URL.Path != "/v2/" {
				writer.WriteHeader(http.StatusUnauthorized)
				return
			}
			inner.ServeHTTP(writer, r)
		})
		w.password.Store(&first)
		allowed.Store(&first)
		watched := Watched{Target: target("my", w.server.push(t, "team/one:1", image(t, nil)))}
		w.Watch(watched)
		after(t, lookAgain)
		w.password.Store(&second)
		allowed.Store(&second)
		after(t, lookAgain)
		if tag, ok := w.Watch(watched); !ok || tag.Err != nil {
			t.Errorf("got %+v", tag)
		}
		if got := w.credentials.Load(); got != 2 {
			t.Errorf("credentials were read %d times, want 2", got)
		}
	})
}

// TestWatchSoon checks that a tag is compared immediately on request, and that no request is necessary shortly after
// the image was read.
func TestWatchSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, "")
		one := target("my", w.server.push(t, "team/one:1", image(t, map[string]string{LabelBase64: encoded(config)})))
		w.Read(one)
		after(t, time.Second)
		w.server.counted()
		w.Watch(Watched{Target: one, Soon: true})
		after(t, time.Second)
		if tag, ok := w.Watch(Watched{Target: one, Soon: true}); !ok || tag.Digest == "" {
			t.Errorf("got %+v", tag)
		}
		if asked := w.server.counted(); len(asked) > 0 {
			t.Errorf("%v for a tag that was read a moment ago, want none", asked)
		}
		w.Watch(Watched{Target: one})
		after(t, 2*fresh)
		w.Watch(Watched{Target: one, Soon: true})
		after(t, time.Second)
		if asked := w.server.counted()["HEAD"]; asked != 1 {
			t.Errorf("%d requests, want one immediately", asked)
		}
		w.Watch(Watched{Target: one, Soon: true})
		w.Unwatch(one.Stack)
		after(t, 24*time.Hour)
		if asked := w.server.counted(); len(asked) > 0 {
			t.Errorf("%v for an unwatched tag", asked)
		}
	})
}

// TestWatchOddRegistries checks the digest of a tag at registries that do not return it for a HEAD request, and that
// the pool immediately reports a tag that it can never compare.
func TestWatchOddRegistries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, "")
		single := image(t, nil)
		ref := w.server.push(t, "team/one:1", single)
		inner := w.server.handler
		w.server.handler = http.HandlerFunc(func(writer http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodHead {
				writer.WriteHeader(http.StatusMethodNotAllowed)
				return
			}
			inner.ServeHTTP(writer, r)
		})
		watched := Watched{Target: target("my", ref), Soon: true}
		w.Watch(watched)
		after(t, time.Second)
		if tag, _ := w.Watch(watched); tag != (Tag{Digest: hashOf(t, single)}) {
			t.Errorf("without HEAD got %+v", tag)
		}
		w.Configure(Options{Insecure: []string{memoryHost}, Allow: []string{"quay.io"}})
		w.server.toMemory(t, w.reader)
		watched.Stack.Name = "other"
		w.Watch(watched)
		after(t, time.Second)
		tag, _ := w.Watch(watched)
		if _, refused := errors.AsType[*RefusedError](tag.Err); !refused ||
			!strings.HasPrefix(tag.Err.Error(), `compare image "`) {
			t.Errorf("a registry that is not allowed: got %+v", tag)
		}
	})
}
