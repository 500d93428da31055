package registry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"k8s.io/apimachinery/pkg/types"
)

// inMemory is a registry that is reached through in-memory pipes. In a synctest bubble, a test that covers several
// hours therefore takes no real time.
type inMemory struct {
	challenge string // Basic or Bearer; empty means none
	handler   http.Handler
	pipes     chan net.Conn
	server    *http.Server

	mu    sync.Mutex
	asked map[string]int // number of requests, by kind
}

const memoryHost = "registry.example.com:5000"

func serveInMemory(t *testing.T, challenge string) *inMemory {
	t.Helper()
	m := &inMemory{
		challenge: challenge, pipes: make(chan net.Conn), asked: map[string]int{},
		handler: registry.New(registry.Logger(log.New(io.Discard, "", 0))),
	}
	m.server = &http.Server{Handler: http.HandlerFunc(m.serve), ReadHeaderTimeout: time.Hour}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = m.server.Serve(m)
	}()
	t.Cleanup(func() {
		_ = m.server.Close()
		<-ended
		pass(2 * lingering)
		synctest.Wait()
	})
	return m
}

// Accept, Close and Addr implement net.Listener.
func (m *inMemory) Accept() (net.Conn, error) {
	connection, ok := <-m.pipes
	if !ok {
		return nil, net.ErrClosed
	}
	return connection, nil
}

func (m *inMemory) Close() error   { close(m.pipes); return nil }
func (m *inMemory) Addr() net.Addr { return &net.TCPAddr{} }

func (m *inMemory) dial(context.Context, string, string) (net.Conn, error) {
	client, server := bufferedPipe()
	m.pipes <- server
	return client, nil
}

// serve counts requests, and responds with a challenge if the registry requires credentials.
func (m *inMemory) serve(w http.ResponseWriter, r *http.Request) {
	kind := r.Method
	switch {
	case r.TLS != nil:
	case r.URL.Path == "/v2/":
		kind = "ping"
	case r.URL.Path == "/token":
		kind = "token"
	}
	m.mu.Lock()
	m.asked[kind]++
	m.mu.Unlock()
	user, _, _ := r.BasicAuth()
	switch {
	case kind == "token":
		fmt.Fprintf(w, `{"token":"of-%s","expires_in":300}`, user)
	case m.challenge == "Basic" && user == "", m.challenge == "Bearer" &&
		!strings.HasPrefix(r.Header.Get("Authorization"), "Bearer of-"):
		w.Header().Set("WWW-Authenticate", m.challenge+` realm="http://`+memoryHost+`/token",service="registry"`)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		m.handler.ServeHTTP(w, r)
	}
}

// counted returns the number of requests of each kind since the last call.
func (m *inMemory) counted() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	counted := m.asked
	m.asked = map[string]int{}
	return counted
}

func ofAPI(asked map[string]int) int { return asked["ping"] + asked["GET"] + asked["HEAD"] }

func (m *inMemory) push(t *testing.T, repository string, image remote.Taggable) string {
	t.Helper()
	ref, err := name.ParseReference(memoryHost+"/"+repository, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: m.dial}
	defer transport.CloseIdleConnections()
	if err := remote.Push(ref, image, remote.WithTransport(transport),
		remote.WithAuth(&authn.Basic{Username: "pusher", Password: "p"})); err != nil {
		t.Fatal(err)
	}
	m.counted()
	return ref.Name()
}

// toMemory makes a reader connect to the registry over plain HTTP.
func (m *inMemory) toMemory(t *testing.T, reader *Reader) {
	t.Helper()
	transport := reader.through.insecure.(*http.Transport)
	transport.DialContext = m.dial
	transport.DialTLSContext = func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrUnexpectedEOF }
	t.Cleanup(reader.Close)
}

var memoryOptions = Options{Insecure: []string{memoryHost}, Platform: v1.Platform{OS: "linux", Architecture: "amd64"}}

func robot(t *testing.T, user string) *Keychain {
	t.Helper()
	keychain := &Keychain{}
	if user == "" {
		return keychain
	}
	if err := keychain.Add(fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, memoryHost, encoded(user+":p"))); err != nil {
		t.Fatal(err)
	}
	return keychain
}

// indexOf returns an index with one image, which is for the platform that the reader selects.
func indexOf(single v1.Image) v1.ImageIndex {
	return mutate.AppendManifests(empty.Index, mutate.IndexAddendum{
		Add: single, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}},
	})
}

// embedding is an image whose manifest also contains the configuration of the image, or other bytes instead of it.
type embedding struct {
	v1.Image
	data func(config []byte) []byte
}

func (e embedding) Manifest() (*v1.Manifest, error) {
	made, err := e.Image.Manifest()
	if err != nil {
		return nil, err
	}
	config, err := e.RawConfigFile()
	if err != nil {
		return nil, err
	}
	made = made.DeepCopy()
	made.Config.Data = e.data(config)
	return made, nil
}

func (e embedding) RawManifest() ([]byte, error) { return partial.RawManifest(e) }
func (e embedding) Digest() (v1.Hash, error)     { return partial.Digest(e) }
func (e embedding) Size() (int64, error)         { return partial.Size(e) }

// TestRequestsOfARead counts the requests for a first read and for a second read, by tag and by digest.
func TestRequestsOfARead(t *testing.T) {
	file := layer(t, entry{name: "config.yaml", content: config, kind: '0'})
	inLabel := image(t, map[string]string{LabelBase64: encoded(config)})
	inLayer := image(t, map[string]string{LabelLayer: digestOf(t, file), LabelPath: "config.yaml"}, file)
	for _, tc := range []struct {
		name  string
		image remote.Taggable
		// first is the count for the first image in a registry. next is the count for another image.
		first, next int
	}{
		{"an image with its label", inLabel, 3, 2},
		{"an image with a layer", inLayer, 4, 3},
		{"an index, a label", indexOf(inLabel), 4, 3},
		{"an index, a layer", indexOf(inLayer), 5, 4},
		{"an index, a layer, labeled by kubectl llamastack", indexOf(embedding{inLayer, bytes.Clone}), 4, 3},
		{"an index, an embedded label", indexOf(embedding{inLabel, bytes.Clone}), 3, 2},
		{"other embedded bytes", embedding{inLabel, bytes.ToUpper}, 3, 2},
		{"a part of the bytes", embedding{inLabel, func(config []byte) []byte { return config[1:] }}, 3, 2},
		{"too many embedded bytes", embedding{inLabel, func([]byte) []byte { return make([]byte, MaxEmbedded+1) }}, 3, 2},
	} {
		for _, challenge := range []string{"", "Basic", "Bearer"} {
			t.Run(strings.TrimSpace(tc.name+" "+challenge), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := serveInMemory(t, challenge)
					first, next := server.push(t, "team/first:1", tc.image), server.push(t, "team/next:1", tc.image)
					reader := New(memoryOptions)
					server.toMemory(t, reader)
					var digest string
					ask := func(what, ref string, api, tokens int) {
						t.Helper()
						read, err := reader.Read(t.Context(), ref, robot(t, "robot"))
						if err != nil || string(read.Config) != config {
							t.Fatalf("%s: got %v, %v", what, read, err)
						}
						digest = read.Digest
						asked := server.counted()
						if challenge != "Bearer" {
							tokens = 0
						}
						if ofAPI(asked) != api || asked["token"] != tokens {
							t.Errorf("%s: %v, want %d requests and %d for tokens", what, asked, api, tokens)
						}
					}
					ask("first", first, tc.first, 1)
					ask("another image", next, tc.next, 1)
					ask("the same tag", first, 1, 1)
					ask("its digest", strings.TrimSuffix(first, ":1")+"@"+digest, 0, 0)
				})
			})
		}
	}
}

// inMemoryPool returns a pool that reads from a registry in memory, with the default pauses. The user name for a stack
// is the name of its namespace.
func inMemoryPool(t *testing.T, server *inMemory) *Pool {
	t.Helper()
	pool := NewPool(PoolOptions{
		Credentials: func(_ context.Context, target Target, _ []string) (authn.Keychain, error) {
			return robot(t, strings.TrimPrefix(target.Stack.Namespace, "anonymous")), nil
		},
		Notify: func(context.Context, types.NamespacedName) {},
	})
	pool.Configure(memoryOptions)
	server.toMemory(t, pool.reader)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- pool.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return pool
}

// many returns targets in several namespaces, each of which has its own credentials. The parameter `each` is the number
// of stacks in a namespace. The stacks in a namespace cycle through the images.
func many(each int, images ...string) []Target {
	var targets []Target
	for _, namespace := range []string{"anonymous", "a", "b"} {
		for i := range each {
			targets = append(targets, Target{
				Stack: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)}, Image: images[i%len(images)],
			})
		}
	}
	return targets
}

// TestManyStacksOnOneImage counts the requests that a thousand stacks in each namespace cause together.
func TestManyStacksOnOneImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serveInMemory(t, "")
		ref := server.push(t, "team/server:1", indexOf(image(t, map[string]string{LabelBase64: encoded(config)})))
		pool := inMemoryPool(t, server)
		targets := many(1000, ref)
		for _, target := range targets {
			pool.Read(target)
		}
		pass(fresh / 2)
		synctest.Wait()
		for _, target := range targets {
			if outcome, _ := pool.Read(target); outcome.Image == nil || string(outcome.Image.Config) != config {
				t.Fatalf("%v: got %+v", target.Stack, outcome)
			}
		}
		const credentials = 3
		if asked := server.counted(); ofAPI(asked) > 4*credentials {
			t.Errorf("%v for %d sets of credentials, want 4 each at most", asked, credentials)
		}
		pass(24 * time.Hour)
		if asked := server.counted(); len(asked) > 0 {
			t.Errorf("%v in a day without changes, want none", asked)
		}
	})
}

// TestManyStacksOnABusyRegistry counts the requests to a registry that responds with "too many requests", for the same
// number of stacks as in TestManyStacksOnOneImage. The registry must receive no request during the pause that it
// requires.
func TestManyStacksOnABusyRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := serveInMemory(t, "")
		server.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v2/" {
				w.Header().Set("Retry-After", "600")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		})
		pool := inMemoryPool(t, server)
		for _, target := range many(1000, memoryHost+"/team/server:1") {
			pool.Read(target)
			pass(100 * time.Millisecond)
		}
		pass(4 * time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(map[string]int{"ping": 1, "GET": 3}, server.counted()); diff != "" {
			t.Errorf("requests in nine minutes (-want +got):\n%s", diff)
		}
	})
}

// TestIdle counts the requests during a day in which many stacks wait until the images of some tags have labels, and
// checks that all stacks that use a tag receive the new labels.
func TestIdle(t *testing.T) {
	for _, challenge := range []string{"", "Bearer"} {
		t.Run(challenge, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := serveInMemory(t, challenge)
				bare := server.push(t, "team/bare:1", image(t, map[string]string{"some": "label"}))
				broken := server.push(t, "team/broken:1", image(t, map[string]string{LabelBase64: "***"}))
				pinned := server.push(t, "team/bare@"+strings.Split(digestOf(t, image(t, nil)), "@")[0], image(t, nil))
				pool := inMemoryPool(t, server)
				targets := many(99, bare, broken, pinned)
				for _, target := range targets {
					pool.Read(target)
					pass(time.Second) // the stacks start at different times
				}
				pass(2 * lookAgain)
				synctest.Wait()
				server.counted()
				const hours, tags, credentials = 24, 2, 3
				pass(hours * time.Hour)
				synctest.Wait()
				want := map[string]int{"HEAD": hours * tags * credentials}
				if challenge != "" {
					want["token"] = hours * tags * credentials
				}
				if diff := cmp.Diff(want, server.counted()); diff != "" {
					t.Errorf("requests of a day (-want +got):\n%s", diff)
				}
				server.push(t, "team/bare:1", image(t, map[string]string{LabelBase64: encoded(config)}))
				pass(lookAgain)
				synctest.Wait()
				for _, target := range targets {
					outcome, _ := pool.Read(target)
					if labeled := outcome.Image != nil && outcome.Image.Config != nil; labeled != (target.Image == bare) {
						t.Fatalf("%v on %s: got %+v", target.Stack, target.Image, outcome)
					}
				}
			})
		})
	}
}
