package registry

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/mirror"
)

var withConfig = map[string]string{LabelBase64: base64.StdEncoding.EncodeToString([]byte(config))}

// mirrorsCases are the cases of TestMirrors.
var mirrorsCases = []struct {
	name string
	// inMirror and inSource are the labels of the image in the mirror and in the source. Nil means that the repository
	// does not contain the image.
	inMirror, inSource map[string]string
	mirrorAnswers      int
	options            func(o *Options, source, mirror *served)
	pinned             bool
	askedBoth          bool
	askedMirror        bool
	want               []string // parts of the error; empty means that the read succeeds
	transient          bool
}{
	{name: "the mirror has the image", inMirror: withConfig, inSource: withConfig, askedMirror: true},
	{name: "only the source has the image", inSource: withConfig, askedBoth: true},
	{name: "the mirror fails", mirrorAnswers: http.StatusBadGateway, inSource: withConfig, askedBoth: true},
	{
		name: "neither has the image", askedBoth: true,
		want: []string{"/mirror/team/server: ", "404", "; ", "/team/server: "},
	},
	{name: "a temporary failure of the mirror", mirrorAnswers: http.StatusBadGateway, askedBoth: true, want: []string{"502", "404"}, transient: true},
	{name: "an invalid label in the mirror", inMirror: map[string]string{LabelBase64: "%"}, inSource: withConfig, askedMirror: true, want: []string{LabelBase64}},
	{
		name: "the source must not be contacted", inSource: withConfig, askedMirror: true, want: []string{"404"},
		options: func(o *Options, _, _ *served) { o.Mirrors[0].Never = true },
	},
	{
		name: "the source must not be contacted, and there is no mirror for digests", inSource: withConfig, pinned: true, want: []string{"NeverContactSource"},
		options: func(o *Options, _, _ *served) { o.Mirrors[0].Never = true },
	},
	{
		name: "a digest has its own mirrors", inMirror: withConfig, inSource: withConfig, pinned: true, askedMirror: true,
		options: func(o *Options, _, _ *served) { o.Mirrors[0].Digest, o.Mirrors[0].Tag = o.Mirrors[0].Tag, nil },
	},
	{
		name: "a mirror that is not allowed", inMirror: withConfig, inSource: withConfig,
		options: func(o *Options, source, _ *served) { o.Allow = []string{source.host} },
	},
	{
		name: "a mirror at a local address", inMirror: withConfig, inSource: withConfig,
		options: func(o *Options, source, _ *served) { o.Insecure = []string{source.host} },
	},
	{
		name: "rewrite takes precedence", inMirror: withConfig, inSource: withConfig,
		options: func(o *Options, source, _ *served) {
			o.Rewrite = map[string]string{source.host + "/old": source.host + "/mirror/team"}
		},
	},
}

// TestMirrors checks whether the mirror and the source receive requests, and the message when neither has the image.
func TestMirrors(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "/manifests/") {
				w.WriteHeader(code)
				return true
			}
			return false
		}
	}

	for _, tc := range mirrorsCases {
		t.Run(tc.name, func(t *testing.T) {
			source, place := serve(t), serve(t)
			options := Options{
				Insecure: []string{source.host, place.host}, Platform: v1.Platform{OS: "linux", Architecture: "amd64"},
				Mirrors: mirror.Set{{Prefix: source.host, Tag: []string{place.host + "/mirror"}}},
			}
			repository := "/team/server"
			if tc.options != nil {
				tc.options(&options, source, place)
			}
			if options.Rewrite != nil {
				repository = "/old/server"
				source.push(t, "mirror/team/server:1", image(t, tc.inSource))
			}
			written := source.host + repository + ":1"
			for at, labels := range map[*served]map[string]string{source: tc.inSource, place: tc.inMirror} {
				if labels == nil {
					continue
				}
				made := image(t, labels)
				at.push(t, strings.TrimPrefix(map[bool]string{true: "/mirror", false: ""}[at == place]+"/team/server:1", "/"), made)
				if digest, err := made.Digest(); err == nil && tc.pinned {
					written = source.host + repository + "@" + digest.String()
				}
			}
			if tc.mirrorAnswers != 0 {
				place.instead(status(tc.mirrorAnswers))
			}
			source.requests.Store(0)
			place.requests.Store(0)
			reader := New(options)
			t.Cleanup(reader.Close)
			found, err := reader.Read(t.Context(), written, authn.NewMultiKeychain())
			if (err == nil) != (tc.want == nil) || err == nil && string(found.Config) != config {
				t.Fatalf("%+v, %v", found, err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q in it", err, want)
				}
			}
			if err != nil && Transient(err) != tc.transient {
				t.Errorf("transient %t: %v", Transient(err), err)
			}
			refused := strings.Contains(strings.Join(tc.want, ""), "NeverContactSource")
			askedSource, askedMirror := source.requests.Load() > 0, place.requests.Load() > 0
			if askedMirror != (tc.askedBoth || tc.askedMirror) || askedSource != (!tc.askedMirror && !refused) {
				t.Errorf("requests to the source: %t, to the mirror: %t", askedSource, askedMirror)
			}
			if refusal, ok := errors.AsType[*RefusedError](err); ok != refused || ok && (!refusal.Mirrored || !Lasting(err)) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestRootCAs checks that only a configured authority is trusted.
func TestRootCAs(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter,
		_ *http.Request,
	) {
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	own := x509.NewCertPool()
	own.AddCert(server.Certificate())
	for _, trusted := range []*x509.CertPool{nil, own} {
		reader := New(Options{RootCAs: trusted})
		t.Cleanup(reader.Close)
		reader.through.secure.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://example.com/v2/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := reader.Transport().RoundTrip(request)
		if err == nil {
			_ = response.Body.Close()
		}
		if (err == nil) != (trusted != nil) || err != nil && !UnknownAuthority(Sanitize(err)) {
			t.Errorf("with a configured authority %t: %v", trusted != nil, err)
		}
	}
}

// TestMirrorsOfTags checks that the operator compares a tag at the mirrors from which it reads the image, and that no
// registry receives the credentials for another registry.
func TestMirrorsOfTags(t *testing.T) {
	source, place := serve(t), serve(t)
	digest, err := image(t, nil).Digest()
	if err != nil {
		t.Fatal(err)
	}
	source.push(t, "team/server:1", image(t, map[string]string{"another": "image"}))
	place.push(t, "mirror/team/server:1", image(t, nil))
	var leaked atomic.Int64
	wants := func(password string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			_, given, sent := r.BasicAuth()
			if sent && given != password {
				leaked.Add(1)
			}
			if given == password {
				return false
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
	}
	source.instead(wants("of the source"))
	place.instead(wants("of the mirror"))
	keychain := &Keychain{}
	for host, password := range map[string]string{source.host: "of the source", place.host: "of the mirror"} {
		content := fmt.Sprintf(`{"auths":{%q:{"username":"robot","password":%q}}}`, host, password)
		if err := keychain.Add([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	told := make(chan types.NamespacedName, 10)
	pool := NewPool(PoolOptions{
		Credentials: func(context.Context, Target, []string) (authn.Keychain, error) { return keychain, nil },
		Notify:      func(_ context.Context, stack types.NamespacedName) { told <- stack },
		FirstRetry:  10 * time.Millisecond, LookAgain: 20 * time.Millisecond, Fresh: time.Nanosecond,
	})
	pool.Configure(Options{Insecure: []string{source.host, place.host}})
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		_ = pool.Start(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	watched := Watched{Target: Target{
		Stack: types.NamespacedName{Namespace: "team", Name: "my"},
		Image: source.host + "/team/server:1",
	}, Soon: true}
	news := func() {
		t.Helper()
		select {
		case <-told:
		case <-time.After(10 * time.Second):
			t.Fatal("the tag was not reported")
		}
	}
	pool.Watch(watched)
	news()
	if found, _ := pool.Watch(watched); found.Digest == digest.String() || found.Err != nil {
		t.Fatalf("without a mirror the tag is %+v", found)
	}
	pool.Mirror(mirror.Set{{Prefix: source.host, Tag: []string{place.host + "/none", place.host + "/mirror"}}})
	news()
	if found, _ := pool.Watch(watched); found.Digest != digest.String() {
		t.Errorf("with a mirror the tag is %+v, want %s", found, digest)
	}
	if got := leaked.Load(); got != 0 {
		t.Errorf("%d requests had the credentials of another registry", got)
	}
}
