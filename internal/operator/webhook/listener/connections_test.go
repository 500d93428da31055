package listener

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// serve starts a server with a maximum number of connections. Requests for /wait wait until the test ends.
func serve(t *testing.T, most int) (address string, client *http.Client) {
	t.Helper()
	wait := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-wait
		}
		_, _ = io.WriteString(w, "done")
	}))
	bounded := newConnections(server.Listener, most)
	server.Listener, server.Config.ConnState = bounded, bounded.changed
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(wait) })
	return bounded.Addr().String(), server.Client()
}

// connection is a connection to a server.
type connection struct {
	net.Conn

	in *bufio.Reader
}

func connect(t *testing.T, address string) connection {
	t.Helper()
	opened, err := net.Dial("tcp", address)
	testutil.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	return connection{opened, bufio.NewReader(opened)}
}

// ask sends a request, and reports whether the server answers.
func (c connection) ask() bool {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(response.Body)
	return err == nil && string(said) == "done"
}

// isClosed waits until the server closes a connection.
func (c connection) isClosed() bool {
	_, err := c.in.ReadByte()
	return err != nil
}

// Clients that send nothing, and clients that stay idle, do not take the place of others.
func TestConnections(t *testing.T) {
	const most = 4
	t.Run("silent", func(t *testing.T) {
		address, _ := serve(t, most)
		used := connect(t, address)
		if !used.ask() {
			t.Fatal("no answer")
		}
		silent := make([]connection, 0, 3*most)
		for range 3 * most {
			silent = append(silent, connect(t, address))
		}
		for i, one := range silent[:2*most] {
			if !one.isClosed() {
				t.Errorf("silent connection %d is open", i)
			}
		}
		if !used.ask() || !connect(t, address).ask() {
			t.Error("a silent connection took the place of one with requests")
		}
	})
	t.Run("idle", func(t *testing.T) {
		address, _ := serve(t, most)
		used := connect(t, address)
		for i := range 3 * most {
			if !used.ask() || !connect(t, address).ask() {
				t.Fatalf("idle connection %d took the place of one that is used", i)
			}
		}
	})
	t.Run("incomplete", func(t *testing.T) {
		address, _ := serve(t, 2*most)
		for range 4 * most {
			incomplete := connect(t, address)
			if _, err := io.WriteString(incomplete, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			arriving, other := connect(t, address), connect(t, address)
			if !other.ask() || !arriving.ask() {
				t.Fatal("a new connection took the place of one that arrived just before")
			}
		}
	})
	t.Run("waiting", func(t *testing.T) {
		address, client := serve(t, most)
		for range 3 * most {
			waiting := connect(t, address)
			if _, err := io.WriteString(waiting, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
		}
		response, err := client.Get("http://" + address)
		testutil.Must(t, err)
		_ = response.Body.Close()
	})
}

// A head that is too long is refused. A body that does not arrive ends its request, and a request without one has time.
func TestHead(t *testing.T) {
	synced := make(chan error, 1)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case <-r.Context().Done():
				synced <- r.Context().Err()
			case <-time.After(200 * time.Millisecond):
				synced <- nil
			}
		}
		http.NotFound(w, r)
	})
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config = New("test", server.Listener, nil, handler, Calls).Server
	if got := server.Config.ReadTimeout; got != arrival {
		t.Errorf("a request has %v to arrive", got)
	}
	server.Config.ConnState, server.Config.ReadTimeout = nil, 100*time.Millisecond
	server.Start()
	defer server.Close()
	slow, silent := connect(t, server.Listener.Addr().String()), connect(t, server.Listener.Addr().String())
	_, _ = io.WriteString(slow, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
	_, _ = io.WriteString(silent, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
	if err := <-synced; err != nil {
		t.Errorf("a request without a body: %v", err)
	}
	_ = silent.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, silent); err != nil {
		t.Errorf("the connection of a body that does not arrive is not closed: %v", err)
	}
	one := connect(t, server.Listener.Addr().String())
	_, _ = fmt.Fprintf(one, "GET / HTTP/1.1\r\nHost: x\r\nX: %s\r\n\r\n", strings.Repeat("x", Calls.Head))
	response, err := http.ReadResponse(one.in, nil)
	testutil.Must(t, err)
	_ = response.Body.Close()
	if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Error(response.Status)
	}
}
