package registry

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMovedTag checks that a reader finds new content under the same tag, unless the registry still returns the
// previous digest. The reported digest is always the digest of the content.
func TestMovedTag(t *testing.T) {
	before, after := image(t, map[string]string{LabelBase64: encoded(config)}),
		image(t, map[string]string{LabelBase64: encoded("version: 2\n")})
	for name, tc := range map[string]struct {
		head http.HandlerFunc // nil means the registry's own response
		want string
	}{
		"correct header":     {nil, digestOf(t, after)},
		"without the header": {func(http.ResponseWriter, *http.Request) {}, digestOf(t, after)},
		"the method is not supported": {
			func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) },
			digestOf(t, after),
		},
		"nonsense": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Docker-Content-Digest", "latest") }, digestOf(t, after)},
		"the previous digest": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Docker-Content-Digest", digestOf(t, before))
			}, digestOf(t, before),
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t)
			ref := server.push(t, "team/server:1", before)
			reader := server.reader(t, Options{})
			if _, err := reader.Read(t.Context(), ref, &Keychain{}); err != nil {
				t.Fatal(err)
			}
			server.push(t, "team/server:1", after)
			server.instead(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodHead || tc.head == nil {
					return false
				}
				tc.head(w, r)
				return true
			})
			got, err := reader.Read(t.Context(), ref, &Keychain{})
			if err != nil || got.Digest != tc.want || (string(got.Config) == config) != (tc.want == digestOf(t, before)) {
				t.Errorf("got %+v, %v, want %s", got, err, tc.want)
			}
		})
	}
}

// TestRefusedComparison checks that the reader does not request the manifest from a registry that rejects the request
// for the tag's digest.
func TestRefusedComparison(t *testing.T) {
	for _, code := range []int{
		http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests,
		http.StatusServiceUnavailable,
	} {
		server := serve(t)
		ref := server.push(t, "team/server:1", image(t, nil))
		reader := server.reader(t, Options{})
		if _, err := reader.Read(t.Context(), ref, &Keychain{}); err != nil {
			t.Fatal(err)
		}
		server.instead(func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(code)
			return true
		})
		before := server.requests.Load()
		_, err := reader.Read(t.Context(), ref, &Keychain{})
		if asked := server.requests.Load() - before; statusOf(err) != code || asked != 1 {
			t.Errorf("got %v after %d requests, want status %d after one", err, asked, code)
		}
	}
}

// TestRegistryThatCloses checks that a registry that begins to require credentials receives them immediately.
func TestRegistryThatCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serveInMemory(t, "")
		ref := server.push(t, "team/server:1", image(t, map[string]string{LabelBase64: encoded(config)}))
		reader := New(memoryOptions)
		server.toMemory(t, reader)
		for _, tc := range []struct {
			challenge string
			want      map[string]int
		}{
			{"", map[string]int{"ping": 1, "GET": 2}},
			{"Bearer", map[string]int{"HEAD": 2, "ping": 1, "token": 1}},
			{"Bearer", map[string]int{"HEAD": 1, "token": 1}},
			{"Basic", map[string]int{"HEAD": 3, "ping": 1, "token": 2}}, // the library first tries another token
		} {
			server.challenge = tc.challenge
			if _, err := reader.Read(t.Context(), ref, robot(t, "robot")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, server.counted()); diff != "" {
				t.Errorf("requests with %q (-want +got):\n%s", tc.challenge, diff)
			}
		}
	})
}

// TestTogether checks that callers share an answer, and that no caller fails because the context of another caller
// ended, regardless of which caller sends the request.
func TestTogether(t *testing.T) {
	for _, first := range []string{"leaver", "hasty", "one"} {
		t.Run(first, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { askTogether(t, first) })
		})
	}
}

// askTogether lets four callers ask the same question. The caller with the name `first` sends the request.
func askTogether(t *testing.T, first string) {
	reader := New(Options{})
	ask := func(ctx context.Context) reading {
		return reader.together(ctx, question{}, func() reading {
			select {
			case <-time.After(time.Second):
				return reading{asked: time.Now()}
			case <-ctx.Done():
				return reading{err: sanitize(ctx.Err())}
			}
		})
	}
	leaver, leave := context.WithCancel(t.Context())
	hasty, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	contexts := map[string]context.Context{
		"leaver": leaver, "hasty": hasty, "one": t.Context(), "another": t.Context(),
	}
	results := map[string]*reading{"leaver": {}, "hasty": {}, "one": {}, "another": {}}
	start := func(name string) { go func() { *results[name] = ask(contexts[name]) }() }
	start(first)
	synctest.Wait()
	for name := range contexts {
		if name != first {
			start(name)
		}
	}
	synctest.Wait()
	pass(10 * time.Millisecond)
	leave()
	pass(5 * time.Second)
	synctest.Wait()
	if err := results["leaver"].err; !errors.Is(err, context.Canceled) {
		t.Errorf("the canceled caller got %v", err)
	}
	if err := results["hasty"].err; err == nil || !strings.Contains(err.Error(), "the host did not respond in time") {
		t.Errorf("the caller with the short deadline got %v", err)
	}
	one, another := results["one"], results["another"]
	if one.err != nil || one.asked.IsZero() || !one.asked.Equal(another.asked) || len(reader.flights) != 0 {
		t.Errorf("got %+v and %+v, %d unfinished reads", one, another, len(reader.flights))
	}
}
