package controllertest

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// Server replaces the servers of all stacks in a test.
type Server struct {
	// Version is the version that the server reports.
	Version atomic.Pointer[string]
	// Providers is the response to requests for the list of providers.
	Providers atomic.Pointer[string]
	// Models is the response to requests for the list of models.
	Models atomic.Pointer[string]
	// Requests is the number of requests so far.
	Requests atomic.Int32

	mu     sync.Mutex
	dialed map[string]bool
}

// Dialed returns the addresses to which operators have connected, sorted.
func (s *Server) Dialed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.dialed))
}

// ServeHTTP returns the version, the providers and the models. For all other paths, and if the requested response is
// empty, it returns the status 401, as servers of release 0.2 do for requests without authentication.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Requests.Add(1)
	version, providers, models := *s.Version.Load(), *s.Providers.Load(), *s.Models.Load()
	switch {
	case r.URL.Path == "/v1/version" && version != "":
		fmt.Fprintf(w, `{"version": %q}`, version)
	case r.URL.Path == "/v1/providers" && providers != "":
		fmt.Fprint(w, providers)
	case r.URL.Path == "/v1/models" && models != "":
		fmt.Fprint(w, models)
	default:
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// StartServer starts a server that replaces the servers of all stacks in the test. If you pass a Secret, the server
// uses the certificate in it. Call StartServer before you start an operator or a Reconciler.
func (env *Environment) StartServer(t *testing.T, version string, certificate ...*corev1.Secret) *Server {
	t.Helper()
	s := &Server{dialed: map[string]bool{}}
	s.Version.Store(&version)
	s.Providers.Store(new(`{"data": []}`))
	s.Models.Store(new(`{"data": []}`))
	server := httptest.NewUnstartedServer(s)
	if len(certificate) == 0 {
		server.Start()
	} else {
		pair, err := tls.X509KeyPair(certificate[0].Data[corev1.TLSCertKey], certificate[0].Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			t.Fatal(err)
		}
		server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // omits errors about clients that reject the certificate
		server.StartTLS()
	}
	t.Cleanup(server.Close)
	env.DialServer = func(ctx context.Context, network, address string) (net.Conn, error) {
		s.mu.Lock()
		s.dialed[address] = true
		s.mu.Unlock()
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	return s
}

// WaitForServerVersion waits until the status of a stack has this version of the server, and returns the stack.
func (env *Environment) WaitForServerVersion(t *testing.T, stack, version string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	WaitUntil(t, func() error {
		env.Get(t, stack, object)
		if v := object.Status.Version; v == nil || v.LlamaStackServerVersion != version {
			return fmt.Errorf("version %+v, want %q", v, version)
		}
		return nil
	})
	return object
}
