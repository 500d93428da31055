package listener

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// arrival bounds the time for the TLS handshake, and then for a request. A handler that reads a body sets its own
	// deadlines.
	arrival = 3 * time.Second
	// idle is longer than an API server keeps an idle connection, which is 90 s. The server could otherwise close a
	// connection on which the API server sends a request.
	idle = 2 * time.Minute
	// spare is the number of bytes by which net/http lets a head exceed its limit.
	spare = 4 << 10
)

// Limits bounds the number of connections, and the bytes in the head of a request. A head of short lines needs fifteen
// times its bytes.
type Limits struct{ Connections, Head int }

var (
	// Calls is for an API server. It has a connection for each of its concurrent calls, and short heads.
	Calls = Limits{512, 8 << 10}
	// Few is for clients that send few requests, with tokens of any authority.
	Few = Limits{64, 20 << 10}
)

// New returns a server for handler, which bounds the connections of clients. It does not use TLS if config is nil.
func New(
	name string, listener net.Listener, config *tls.Config, handler http.Handler, limits Limits,
) *manager.Server {
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	bounded := newConnections(listener, limits.Connections)
	shutdown := time.Minute
	return &manager.Server{
		Name: name, Listener: bounded, ShutdownTimeout: &shutdown,
		Server: &http.Server{
			Handler: withoutDeadline(handler), ConnState: bounded.changed,
			ReadTimeout: arrival, IdleTimeout: idle, MaxHeaderBytes: limits.Head - spare,
		},
	}
}

// withoutDeadline removes the deadline of a request without a body. The server would otherwise consider the connection
// lost when the deadline passes.
func withoutDeadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // every connection supports deadlines
		}
		next.ServeHTTP(w, r)
	})
}
