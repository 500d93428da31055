package listener

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const (
	// most is the maximum number of connections. Each takes up to 60 KiB.
	most = 512
	// arrival bounds the time for the TLS handshake, and then for the head of a request.
	arrival = 3 * time.Second
	// idle is longer than an API server keeps an idle connection, which is 90 s. The server could otherwise close a
	// connection on which the API server sends a request.
	idle = 2 * time.Minute
	// maxHead bounds the head of a request, in bytes.
	maxHead = 16 << 10
)

// New returns a server for handler, which bounds the connections of clients.
func New(name string, listener net.Listener, config *tls.Config, handler http.Handler) *manager.Server {
	bounded := newConnections(tls.NewListener(listener, config), most)
	shutdown := time.Minute
	return &manager.Server{
		Name: name, Listener: bounded, ShutdownTimeout: &shutdown,
		Server: &http.Server{
			Handler: handler, ConnState: bounded.changed,
			ReadHeaderTimeout: arrival, IdleTimeout: idle, MaxHeaderBytes: maxHead,
		},
	}
}
