package listener

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections is a listener with a maximum number of open connections. At the maximum, a new connection closes another
// one. If more than a quarter of the connections have no complete head, it closes the oldest of these. Otherwise it
// closes the one that is idle for the longest time, or the one whose request takes the longest time. So a client that
// opens many connections closes its own ones, and a client that sends requests, such as an API server, keeps its
// connections. A client that keeps many requests incomplete leaves enough places for the handshakes of others.
type connections struct {
	net.Listener

	most int
	mu   sync.Mutex
	open map[net.Conn]use
}

// use is the state of a connection, and the time at which the state began.
type use struct {
	state http.ConnState
	since time.Time
}

func newConnections(listener net.Listener, most int) *connections {
	return &connections{Listener: listener, most: most, open: map[net.Conn]use{}}
}

// Accept waits for a connection.
func (c *connections) Accept() (net.Conn, error) {
	connection, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.most {
		c.closeOne()
	}
	c.open[connection] = use{http.StateNew, time.Now()}
	return connection, nil
}

// closeOne closes the connection that its client needs the least.
func (c *connections) closeOne() {
	var found net.Conn
	var least use
	arriving := 0
	for _, used := range c.open {
		arriving += 1 - min(rank(used.state), 1)
	}
	for connection, used := range c.open {
		if rank(used.state) == 0 && arriving <= c.most/4 {
			continue
		}
		if found == nil || used.before(least) {
			found, least = connection, used
		}
	}
	delete(c.open, found)
	if encrypted, ok := found.(*tls.Conn); ok {
		found = encrypted.NetConn() // the method Close of a tls.Conn can wait for the client
	}
	_ = found.Close()
}

// before reports whether a connection is closed before another one.
func (u use) before(other use) bool {
	if rank(u.state) != rank(other.state) {
		return rank(u.state) < rank(other.state)
	}
	return u.since.Before(other.since)
}

func rank(state http.ConnState) int {
	switch state {
	case http.StateNew:
		return 0
	case http.StateIdle:
		return 1
	default:
		return 2
	}
}

// changed records the state of a connection. It is the hook of an HTTP server.
func (c *connections) changed(connection net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.open[connection]; !ok {
		return // it was closed in favor of another one
	}
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.open, connection)
	default:
		c.open[connection] = use{state, time.Now()}
	}
}
