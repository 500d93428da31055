package faults_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// gate is a proxy between one operator and the API server. It applies the verdict of its rule to each call.
type gate struct {
	server *httptest.Server
	proxy  *httputil.ReverseProxy
	// trusted contains the certificates that the operator trusts: a valid certificate and an expired certificate.
	trusted       []byte
	good, expired *tls.Certificate

	mu      sync.Mutex
	rule    rule
	calls   int
	writes  int
	answers map[int]int // by status
	current *tls.Certificate
}

// rule returns the verdict for a call. If it is nil, the gate forwards every call.
type rule func(call) verdict

// call is one request from the operator.
type call struct {
	*http.Request
	// write is the number of writes to stacks and their children since the rule was set, including this call. It is zero
	// for a read, and for a write that does not affect stacks, such as a write to an event or to one of the operator's own
	// objects.
	write int
}

// verdict is the action of the gate for a call. With the zero value, the gate forwards the call.
type verdict struct {
	// The fields delay and hold delay the call before the other fields apply.
	delay time.Duration
	hold  <-chan struct{}
	// If status is not zero, the gate does not forward the call, and returns an error response with this status code.
	status int
	// lost means that the gate does not forward the call. unanswered means that the gate forwards the call. In both cases,
	// the operator does not receive a response.
	lost, unanswered bool
	// The gate keeps the connection of a lost or unanswered call open until this channel is closed. If the channel is nil,
	// the gate closes the connection immediately.
	until <-chan struct{}
	// notify, if set, is called for a lost or unanswered call.
	notify func()
}

// newGate starts a gate for an API server.
func newGate(t *testing.T, server *rest.Config) *gate {
	t.Helper()
	target, err := url.Parse(server.Host)
	testutil.Must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(server.CAData)
	g := &gate{answers: map[int]int{}}
	g.good, g.expired = g.certificate(t, time.Now().Add(time.Hour)), g.certificate(t, time.Now().Add(-time.Minute))
	g.current = g.good
	g.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true,
		},
		FlushInterval: -1, // watches
		ModifyResponse: func(r *http.Response) error {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.answers[r.StatusCode]++
			return nil
		},
		ErrorLog: log.New(io.Discard, "", 0),
		// If the API server cannot be reached, the operator does not receive a response.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	g.server = httptest.NewUnstartedServer(g)
	g.server.EnableHTTP2 = true
	g.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	g.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: g.greet}
	g.server.StartTLS()
	t.Cleanup(g.server.Close)
	return g
}

// certificate returns a self-signed certificate, and adds it to the certificates that the operator trusts.
func (g *gate) certificate(t *testing.T, notAfter time.Time) *tls.Certificate {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, notAfter)
	pair, err := tls.X509KeyPair(certificate, key)
	testutil.Must(t, err)
	g.trusted = append(g.trusted, certificate...)
	return &pair
}

func (g *gate) greet(*tls.ClientHelloInfo) (*tls.Config, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{*g.current},
	}, nil
}

// url returns the gate's URL for the operator. It contains the host name in the gate's certificate.
func (g *gate) url() string { return strings.Replace(g.server.URL, "127.0.0.1", "localhost", 1) }

// set sets the gate's rule, and resets the counts of calls, writes and responses.
func (g *gate) set(r rule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rule, g.calls, g.writes, g.answers = r, 0, 0, map[int]int{}
}

// outage closes all connections, including those of watches, and does not forward calls.
func (g *gate) outage() {
	g.set(func(call) verdict { return verdict{lost: true} })
	g.server.CloseClientConnections()
}

// calm removes the rule, but does not reset the number of writes.
func (g *gate) calm() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rule = nil
}

// show makes the gate use a certificate for new connections, and closes the existing connections.
func (g *gate) show(certificate *tls.Certificate) {
	g.mu.Lock()
	g.current = certificate
	g.mu.Unlock()
	g.server.CloseClientConnections()
}

// written returns the number of writes since the rule was set.
func (g *gate) written() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.writes
}

// asked returns an error until the operator has made n calls of any kind since the rule was set.
func (g *gate) asked(n int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.calls < n {
		return fmt.Errorf("%d calls", g.calls)
	}
	return nil
}

func (g *gate) judge(r *http.Request) verdict {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.calls++
	c := call{Request: r}
	if counts(r) {
		g.writes++
		c.write = g.writes
	}
	if g.rule == nil {
		return verdict{}
	}
	return g.rule(c)
}

// counts reports whether a request writes a stack or one of its children.
func counts(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/events") &&
		!strings.Contains(r.URL.Path, "/namespaces/"+names.OperatorNamespace)
}

// ServeHTTP applies the rule to a call.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := g.judge(r)
	if v.delay > 0 {
		select {
		case <-time.After(v.delay):
		case <-r.Context().Done():
		}
	}
	if v.hold != nil {
		select {
		case <-v.hold:
		case <-r.Context().Done():
		}
	}
	switch {
	case v.status != 0:
		answer(w, v.status)
		return
	case v.unanswered:
		g.proxy.ServeHTTP(httptest.NewRecorder(), r)
	case !v.lost:
		g.proxy.ServeHTTP(w, r)
		return
	}
	if v.notify != nil {
		v.notify()
	}
	if v.until != nil {
		select {
		case <-v.until:
		case <-r.Context().Done():
		}
	}
	panic(http.ErrAbortHandler)
}

// answer writes an error response as the API server does.
func answer(w http.ResponseWriter, code int) {
	reason := map[int]metav1.StatusReason{
		http.StatusConflict: metav1.StatusReasonConflict, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
		http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
	}[code]
	w.Header().Set("Content-Type", "application/json")
	if code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", strconv.Itoa(1))
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{ // the client may have closed the connection
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Message: "the gate rejects the call", Reason: reason, Code: int32(code),
	})
}
