package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// TestTenantForgesLayer covers the attack that the comparison of layer digests prevents: a tenant's registry serves the
// manifest of a victim together with a forged layer. The file is at the start of the layer, so the changed bytes are
// before the end of the layer.
func TestTenantForgesLayer(t *testing.T) {
	content, err := layer(t, entry{name: "config.yaml", content: config, kind: '0'}, entry{name: "rest", kind: '0', size: 1 << 20}).Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	right, err := io.ReadAll(content)
	if err != nil {
		t.Fatal(err)
	}
	evil := strings.ReplaceAll(config, "inference", "telemetry")
	raw := static.NewLayer(right, types.DockerUncompressedLayer)
	built := image(t, map[string]string{LabelLayer: digestOf(t, raw), LabelPath: "config.yaml"}, raw)
	victim, tenant := serve(t), serve(t)
	victims, tenants := victim.push(t, "team/server:1", built), tenant.push(t, "team/server:1", built)
	tenant.instead(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/blobs/"+digestOf(t, raw)) {
			return false
		}
		_, _ = w.Write(bytes.Replace(right, []byte(config), []byte(evil), 1))
		return true
	})
	for name, order := range map[string][]string{"tenant first": {tenants, victims}, "victim first": {victims, tenants}} {
		t.Run(name, func(t *testing.T) {
			reader := victim.reader(t, Options{Insecure: []string{tenant.host}})
			for _, ref := range order {
				got, err := reader.Read(t.Context(), ref, &Keychain{})
				switch {
				case ref == tenants && !errors.Is(err, errWrongContent):
					t.Errorf("the read from the tenant's registry returned %v, %v", got, err)
				case ref == victims && (err != nil || string(got.Config) != config):
					t.Errorf("the victim got %v, %v", got, err)
				}
			}
		})
	}
}

// TestKnownToWhom checks that an answer from one registry or for one set of credentials is not used for another
// registry or other credentials.
func TestKnownToWhom(t *testing.T) {
	built := image(t, map[string]string{LabelBase64: encoded(config)})
	server, other := serve(t), serve(t)
	ref, elsewhere := server.push(t, "team/server:1", built), other.push(t, "team/server:1", built)
	var asked atomic.Int32
	count := func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/blobs/") {
			asked.Add(1)
		}
		return false
	}
	server.instead(count)
	other.instead(count)
	keychain := func(password string) *Keychain {
		keychain := &Keychain{}
		if err := keychain.Add(fmt.Appendf(nil, `{"auths":{%q:{"auth":%q}}}`, server.host, encoded("robot:"+password))); err != nil {
			t.Fatal(err)
		}
		return keychain
	}
	reader := server.reader(t, Options{Insecure: []string{other.host}})
	for _, tc := range []struct {
		name, image string
		credentials *Keychain
		want        int32
	}{
		{"first", ref, keychain("a"), 1},
		{"the same", ref, keychain("a"), 0},
		{"other credentials", ref, keychain("b"), 1},
		{"none", ref, &Keychain{}, 1},
		{"another registry", elsewhere, &Keychain{}, 1},
		{"the same again", ref, keychain("a"), 0},
	} {
		asked.Store(0)
		if _, err := reader.Read(t.Context(), tc.image, tc.credentials); err != nil {
			t.Fatal(err)
		}
		if got := asked.Load(); got != tc.want {
			t.Errorf("%s: %d blobs were read, want %d", tc.name, got, tc.want)
		}
	}
}

// TestSlowTenant checks that no tenant waits for a read from another tenant's registry, not even for the same digest.
func TestSlowTenant(t *testing.T) {
	built := image(t, map[string]string{LabelBase64: encoded(config)})
	victim, tenant := serve(t), serve(t)
	victims, tenants := victim.push(t, "team/server:1", built), tenant.push(t, "team/server:1", built)
	reached := make(chan struct{})
	tenant.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/blobs/") {
			return false
		}
		close(reached)
		<-r.Context().Done()
		return true
	})
	reader := victim.reader(t, Options{Insecure: []string{tenant.host}})
	ctx, leave := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := reader.Read(ctx, tenants, &Keychain{})
		done <- err
	}()
	<-reached
	if got, err := reader.Read(t.Context(), victims, &Keychain{}); err != nil || string(got.Config) != config {
		t.Errorf("the victim got %v, %v while the tenant's registry was slow", got, err)
	}
	leave()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the tenant's read ended with %v", err)
	}
}

// TestEndlessAnswers checks that an endless manifest or blob results in an error, and that the reader allocates a
// bounded amount of memory for any endless response.
func TestEndlessAnswers(t *testing.T) {
	for path, want := range map[string]string{
		"/manifests/": "the manifest is larger than 4194304 bytes",
		"/blobs/":     "does not match the requested digest",
		"/v2/":        "the response is larger than",
	} {
		t.Run(strings.Trim(path, "/"), func(t *testing.T) {
			server := serve(t)
			ref := server.push(t, "team/server:1", image(t, map[string]string{LabelBase64: encoded(config)}))
			server.instead(func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, path) || path == "/v2/" && r.URL.Path != path {
					return false
				}
				if path == "/v2/" {
					w.WriteHeader(http.StatusUnauthorized)
				}
				entries := bytes.Repeat([]byte("{},"), 1<<16)
				for r.Context().Err() == nil {
					if _, err := w.Write(entries); err != nil {
						return true
					}
				}
				return true
			})
			var err error
			reader := server.reader(t, Options{})
			cost := allocated(func() { _, err = reader.Read(t.Context(), ref, &Keychain{}) })
			if path != "/v2/" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
			if cost > 16*maxManifest {
				t.Errorf("%d bytes were allocated, want at most %d", cost, 16*maxManifest)
			}
		})
	}
}

// TestWhatHostsWrite checks that no error contains text from a host's response: a registry can redirect to any host,
// including hosts to which the registry's administrator has no access.
func TestWhatHostsWrite(t *testing.T) {
	const secret = "internal-s3cret"
	inner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusOK
		_, _ = fmt.Sscanf(r.URL.Path, "/%d/", &code)
		w.Header().Set("WWW-Authenticate", `Basic realm="`+secret+`"`)
		w.Header().Set("Docker-Content-Digest", secret)
		w.Header().Set("Content-Type", secret)
		w.WriteHeader(code)
		if strings.HasSuffix(r.URL.Path, "/json") {
			fmt.Fprintf(w, `{"errors":[{"code":%q,"message":%q,"detail":%q},{"code":"DENIED","message":%q}],"token":5,%q:1}`, secret, secret, secret, secret, secret)
			return
		}
		fmt.Fprint(w, secret)
	}))
	t.Cleanup(inner.Close)
	var listener net.ListenConfig
	banner, err := listener.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = banner.Close() })
	go func() {
		for {
			connection, err := banner.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(connection, secret+" ready\r\n")
			_ = connection.Close()
		}
	}()
	targets := []string{
		"http://" + banner.Addr().String() + "/",
		"http://" + inner.Listener.Addr().String() + "/200/" + secret + "\x01",
	}
	for _, code := range []int{200, 202, 301, 400, 401, 403, 404, 429, 500, 999} {
		for _, form := range []string{"text", "json"} {
			targets = append(targets, fmt.Sprintf("%s/%d/%s", inner.URL, code, form))
		}
	}
	for _, path := range []string{"/v2/", "/v2/team/server/manifests/", "/v2/team/server/blobs/", "/token", "/no-token"} {
		for _, target := range targets {
			server := serve(t)
			ref := server.push(t, "team/server:1", image(t, map[string]string{LabelBase64: encoded(config)}))
			server.instead(func(w http.ResponseWriter, r *http.Request) bool {
				switch {
				case strings.HasSuffix(path, "token") && r.URL.Path == "/v2/":
					w.Header().Set("WWW-Authenticate", `Bearer realm="http://`+server.host+path+`",service="x"`)
					w.WriteHeader(http.StatusUnauthorized)
				case r.URL.Path == "/no-token":
					fmt.Fprintf(w, `{"secret":%q}`, secret)
				case r.URL.Path == path || path != "/v2/" && strings.HasPrefix(r.URL.Path, path):
					w.Header().Set("Location", target+"?signature="+secret)
					w.WriteHeader(http.StatusTemporaryRedirect)
				default:
					return false
				}
				return true
			})
			reader := server.reader(t, Options{Insecure: []string{inner.Listener.Addr().String(), banner.Addr().String()}})
			got, err := reader.Read(t.Context(), ref, &Keychain{})
			if err == nil && path != "/v2/" {
				t.Errorf("%s to %s: got %v", path, target, got)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s to %s: %v", path, target, err)
			}
		}
	}
}
