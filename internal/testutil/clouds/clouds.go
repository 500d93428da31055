package clouds

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Secret is a string that occurs in the secret keys, tokens and errors that the services return. It must not appear in
// output for users or in logs.
const Secret = "cAnArY-cloud"

// Asked describes a request that a stand-in received.
type Asked struct {
	// Place is the host and the path of the request.
	Place string
	// Header and Body are the header and body of the request.
	Header http.Header
	Body   string
}

// Clouds is a server that answers requests for every host.
type Clouds struct {
	// Public and Local are transports to the server over HTTPS and plain HTTP.
	Public, Local *http.Transport

	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	asked   []Asked
}

// Serve starts stand-ins for all services. The stand-ins stop at the end of the test.
func Serve(t *testing.T) *Clouds {
	t.Helper()
	c := &Clouds{answers: map[string]http.HandlerFunc{}}
	public, local := httptest.NewUnstartedServer(c), httptest.NewServer(c)
	public.Config.ErrorLog = log.New(io.Discard, "", 0)
	public.StartTLS()
	trusted := x509.NewCertPool()
	trusted.AddCert(public.Certificate())
	c.Public = &http.Transport{
		DialContext:     dialing(public),
		TLSClientConfig: &tls.Config{RootCAs: trusted, ServerName: "example.com", MinVersion: tls.VersionTLS12},
	}
	c.Local = &http.Transport{DialContext: dialing(local)}
	t.Cleanup(func() {
		c.Public.CloseIdleConnections()
		c.Local.CloseIdleConnections()
		public.CloseClientConnections()
		public.Close()
		local.CloseClientConnections()
		local.Close()
	})
	for place, answer := range services() {
		c.On(place, answer)
	}
	return c
}

func dialing(server *httptest.Server) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: time.Second}).DialContext(ctx, network, server.Listener.Addr().String())
	}
}

// On sets the response to requests for a place. A place is a host and a path, or a prefix of these. The longest
// matching place takes precedence.
func (c *Clouds) On(place string, answer http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[place] = answer
}

// Asked returns the requests whose place begins with the given prefix.
func (c *Clouds) Asked(place string) []Asked {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []Asked
	for _, one := range c.asked {
		if strings.HasPrefix(one.Place, place) {
			found = append(found, one)
		}
	}
	return found
}

// ServeHTTP sends the response that is set for the host and path of the request.
func (c *Clouds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	place := r.Host + r.URL.Path
	best := ""
	c.mu.Lock()
	c.asked = append(c.asked, Asked{place, r.Header.Clone(), string(body)})
	for begin := range c.answers {
		if strings.HasPrefix(place, begin) && len(begin) > len(best) {
			best = begin
		}
	}
	answer := c.answers[best]
	c.mu.Unlock()
	if answer == nil {
		http.Error(w, "there is nothing at "+place+" "+Secret, http.StatusNotFound)
		return
	}
	answer(w, r)
}
