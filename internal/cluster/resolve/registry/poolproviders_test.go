package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"k8s.io/apimachinery/pkg/types"
)

func providers(name string, images ...string) Providers {
	return Providers{Stack: types.NamespacedName{Namespace: "ns", Name: name}, Images: images}
}

// read waits until every image has been tried, and returns the content of the label, or the error, for each image.
func read(t *testing.T, pool *Pool, asked Providers) map[string]string {
	t.Helper()
	got := map[string]string{}
	eventually(t, "every image", func() bool {
		outcomes, ended := pool.ReadProviders(asked)
		for image, outcome := range outcomes {
			if got[image] = message(outcome.Err); outcome.Err == nil {
				got[image] = outcome.Image.Provider
			}
		}
		return ended
	})
	return got
}

// TestPoolProviders checks that the images of a stack's external providers are read one after another, and cause one
// notification. Other labels of an image are ignored, and no request is sent twice.
func TestPoolProviders(t *testing.T) {
	server := serve(t)
	var met, credentials atomic.Int32
	meet := make(chan struct{})
	server.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/manifests/") && r.Method == http.MethodGet {
			select {
			case meet <- struct{}{}:
				met.Add(1)
			case <-meet:
			case <-time.After(5 * time.Millisecond): // no other request arrived
			}
		}
		return false
	})
	want, images := map[string]string{}, []string{}
	for i, labels := range []map[string]string{
		{LabelProvider: "one"},
		{LabelProvider: "two", LabelBase64: "***"},
		{"some": "label"},
		nil,
		{LabelProvider: strings.Repeat("a", 100_000)},
	} {
		ref := server.push(t, fmt.Sprintf("test/provider-%d:1", i), image(t, labels))
		images, want[ref] = append(images, ref), labels[LabelProvider]
	}
	want[images[4]] = fmt.Sprintf("read image %q: label %q: the package metadata is larger than 65536 bytes", images[4], LabelProvider)
	gone := server.host + "/test/gone:1"
	images = append(images, gone)
	want[gone] = fmt.Sprintf("read image %q: the registry responds with status 404 Not Found and code NAME_UNKNOWN", gone)
	pool, told := runPool(t, server, func(Target) (authn.Keychain, error) {
		credentials.Add(1)
		return &Keychain{}, nil
	})
	pool.options.FirstRetry, pool.options.LookAgain = time.Hour, time.Hour
	asked := providers("my", images...)
	if outcomes, ended := pool.ReadProviders(asked); ended {
		t.Fatalf("got %v before anything was read", outcomes)
	}
	if diff := cmp.Diff(want, read(t, pool, asked)); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	eventually(t, "the news", func() bool { return told.Load() == 1 })
	if met.Load() != 0 || credentials.Load() != 1 {
		t.Errorf("%d concurrent requests, credentials read %d times, want 0 and 1", met.Load(), credentials.Load())
	}
	outcomes, _ := pool.ReadProviders(asked)
	if digest := outcomes[images[0]].Image.Digest; !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("digest %q", digest)
	}
	before := server.requests.Load()
	read(t, pool, asked)
	if got := server.requests.Load(); got != before {
		t.Errorf("%d requests for known images", got-before)
	}

	// Other images are read, and so is the server's image.
	read(t, pool, providers("my", images[1]))
	if got := server.requests.Load(); got == before {
		t.Error("the other images were not read")
	}
	pool.Read(target("my", images[0]))
	eventually(t, "the server's image", func() bool {
		outcome, _ := pool.Read(target("my", images[0]))
		return outcome.Image != nil && outcome.Image.Provider == ""
	})
	pool.Forget(asked.Stack)
	if _, ended := pool.ReadProviders(providers("my", images[1])); !ended {
		t.Error("the server's image is still known after the stack was forgotten")
	}
	pool.ForgetProviders(asked.Stack)
	if len(pool.tasks)+len(pool.kept)+len(pool.busy) != 0 {
		t.Errorf("after the stack was forgotten: %v, %v kept, %v busy", pool.tasks, pool.kept, pool.busy)
	}
}

// TestPoolProvidersOfADeadRegistry checks that a registry that does not respond receives only the requests of one read,
// and not those of one read for each image. It also checks that a change to the options causes another attempt.
func TestPoolProvidersOfADeadRegistry(t *testing.T) {
	server, dead := serve(t), serve(t)
	alive := server.push(t, "test/provider:1", image(t, map[string]string{LabelProvider: "one"}))
	var down atomic.Bool
	var asked atomic.Int32
	down.Store(true)
	dead.instead(func(w http.ResponseWriter, _ *http.Request) bool {
		if !down.Load() {
			return false
		}
		asked.Add(1)
		if hijacker, ok := w.(http.Hijacker); ok {
			if connection, _, err := hijacker.Hijack(); err == nil {
				_ = connection.Close()
			}
		}
		return true
	})
	pool, told := runPool(t, server, anonymous)
	pool.options.FirstRetry, pool.options.LookAgain = time.Hour, time.Hour
	pool.Configure(Options{Insecure: []string{server.host, dead.host}, Timeout: 5 * time.Second})
	many := []string{alive}
	for i := range 300 {
		many = append(many, fmt.Sprintf("%s/test/provider-%d:1", dead.host, i))
	}
	got := read(t, pool, providers("my", many...))
	if len(got) != len(many) || got[alive] != "one" {
		t.Errorf("%d outcomes for %d images, and the outcome %q for the other registry, want one", len(got), len(many), got[alive])
	}
	if last := many[len(many)-1]; !strings.HasPrefix(got[last], fmt.Sprintf("read image %q: contact ", last)) {
		t.Errorf("the last image: got %q, want the failure to contact its registry", got[last])
	}
	const requests = 10 // the maximum for one read, which tries each address with HTTPS and HTTP, twice
	if asked.Load() > requests {
		t.Errorf("the registry that does not answer got %d requests, want at most %d", asked.Load(), requests)
	}
	eventually(t, "the news", func() bool { return told.Load() == 1 })

	// A change to the options immediately causes another attempt for the images that could not be read.
	down.Store(false)
	before := server.requests.Load()
	pool.Configure(Options{Insecure: []string{server.host, dead.host}, Timeout: 4 * time.Second})
	eventually(t, "another failure", func() bool {
		outcomes, _ := pool.ReadProviders(providers("my", many...))
		return strings.Contains(message(outcomes[many[1]].Err), "404")
	})
	if got := server.requests.Load(); got != before {
		t.Errorf("a read image is read again: %d requests", got-before)
	}
}

// TestPoolProvidersWithoutCredentials checks that a failure to read the credentials applies to every image.
func TestPoolProvidersWithoutCredentials(t *testing.T) {
	server := serve(t)
	pool, _ := runPool(t, server, func(Target) (authn.Keychain, error) { return nil, errors.New("no credentials") })
	pool.options.FirstRetry, pool.options.LookAgain = time.Hour, time.Hour
	want := map[string]string{"a": "no credentials", "b": "no credentials"}
	if diff := cmp.Diff(want, read(t, pool, providers("my", "a", "b"))); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
}

// TestPoolProvidersBounds checks that the time for reading the images of one stack and the amount of data that is
// kept from them are bounded.
func TestPoolProvidersBounds(t *testing.T) {
	server := serve(t)
	label := strings.Repeat("a", 80<<10)
	var images []string
	for i := range 15 {
		images = append(images, server.push(t, fmt.Sprintf("test/provider-%d:1", i),
			image(t, map[string]string{LabelProvider: label})))
	}
	pool, _ := runPool(t, server, anonymous)
	pool.options.FirstRetry, pool.options.LookAgain = time.Hour, time.Hour
	asked := providers("my", images...)
	got := read(t, pool, asked)
	for i, image := range images {
		want := label
		if i >= maxProviders/len(label) {
			want = `label "io.llamastack.provider": the total metadata of all external providers is larger than 1048576 bytes; ` +
				`remove an external provider, or shorten spec.configSchema in the metadata of a package`
		}
		if got[image] != want {
			t.Errorf("image %d: %.200q", i, got[image])
		}
	}
	if size := pool.kept["ns"].size; size > maxProviders {
		t.Errorf("%d bytes are kept, want at most %d", size, maxProviders)
	}
	pool.ForgetProviders(asked.Stack)

	pool.options.ProvidersTime = time.Nanosecond
	got = read(t, pool, asked)
	if got[images[0]] != label || got[images[1]] != errNoTime.Error() || got[images[14]] != errNoTime.Error() {
		t.Errorf("without time: %.200q", []string{got[images[0]], got[images[1]], got[images[14]]})
	}
}

// TestPoolProvidersMakeRoom checks that the data of external providers is dropped when other data in its namespace
// needs the space, and is read again later.
func TestPoolProvidersMakeRoom(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "test/provider:1", image(t, map[string]string{LabelProvider: "one"}))
	pool, _ := runPool(t, server, anonymous)
	asked := providers("my", ref)
	read(t, pool, asked)
	large := target("large", ref)
	of := key{stack: large.Stack}
	added := &task{key: of, images: []string{large.Image}, pass: map[string]Outcome{}}
	pool.mu.Lock()
	pool.tasks[of] = added
	pool.mu.Unlock()
	pool.conclude(added, large.Image, Outcome{Image: &Image{Config: make([]byte, maxKept)}}, false)
	if _, ended := pool.ReadProviders(asked); ended {
		t.Error("no data was dropped")
	}
	if got := read(t, pool, asked); got[ref] != "one" {
		t.Errorf("read again: %q", got)
	}
}

// TestPoolProvidersLeaveOthersTheirTurn checks that other stacks get their turn, even in the same namespace, however
// many images a stack has and however slow their registry is.
func TestPoolProvidersLeaveOthersTheirTurn(t *testing.T) {
	server := serve(t)
	ref := server.push(t, "test/shares:1", image(t, nil))
	slow := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	slow.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-ctx.Done():
		case <-r.Context().Done():
		}
		return true
	})
	pool, _ := runPool(t, server, anonymous)
	t.Cleanup(cancel)
	pool.Configure(Options{Insecure: []string{server.host, slow.host}, Timeout: time.Hour})
	for stack := range 40 {
		var images []string
		for i := range 320 {
			images = append(images, fmt.Sprintf("%s/test/provider-%d-%d:1", slow.host, stack, i))
		}
		pool.ReadProviders(providers(fmt.Sprint("many-", stack), images...))
	}
	for _, namespace := range []string{"other", "ns"} {
		own := Target{Stack: types.NamespacedName{Namespace: namespace, Name: "own"}, Image: ref}
		eventually(t, "the image of a stack in "+namespace, func() bool {
			outcome, _ := pool.Read(own)
			return outcome.Image != nil
		})
	}
}
