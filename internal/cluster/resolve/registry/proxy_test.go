package registry

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
)

// TestProxyOfTheEnvironment checks that requests go through the proxy that the environment sets, except requests to the
// registries in NO_PROXY. A child process reads the images, because a process reads the environment only once.
func TestProxyOfTheEnvironment(t *testing.T) {
	const child = "TEST_PROXY_CHILD"
	if os.Getenv(child) != "" {
		reader := New(Options{})
		defer reader.Close()
		reader.through.secure.(*http.Transport).DialContext = (&net.Dialer{}).DialContext // the proxy has a local address
		for _, image := range []string{"registry.example.com/team/a:1", "direct.example.invalid/team/a:1"} {
			if _, err := reader.Read(t.Context(), image, authn.NewMultiKeychain()); err == nil {
				t.Errorf("%s was read", image)
			}
		}
		return
	}
	var mu sync.Mutex
	asked := map[string]bool{}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.Method+" "+r.Host] = true
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxyOfTheEnvironment$", "-test.count=1")
	run.Env = append(os.Environ(), child+"=1", "HTTPS_PROXY="+proxy.URL, "HTTP_PROXY="+proxy.URL,
		"NO_PROXY=direct.example.invalid")
	if said, err := run.CombinedOutput(); err != nil || !strings.Contains(string(said), "PASS") {
		t.Fatalf("%v: %s", err, said)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(map[string]bool{"CONNECT registry.example.com:443": true}, asked); diff != "" {
		t.Errorf("requests to the proxy (-want +got):\n%s", diff)
	}
}
