package conversion_test

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// prompt bounds the time for a conversion while other clients are slow. An API server waits for 30 s. On a busy
// machine, the race detector takes most of the time.
const prompt = 20 * time.Second

// hold opens connections that send the head of a request and a part of the body, and then nothing. Each connection that
// the server closes is opened again, until the test ends.
func hold(t *testing.T, server *httptest.Server, connections int, header, body string) {
	t.Helper()
	head := "POST /convert HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + header + "\r\n\r\n"
	for range connections {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		testutil.Must(t, err)
		_, _ = io.WriteString(connection, head)
		go func() {
			for {
				stay(t.Context(), connection, body)
				if connection, err = net.Dial("tcp", server.Listener.Addr().String()); err != nil || t.Context().Err() != nil {
					return
				}
				_, _ = io.WriteString(connection, head)
			}
		}()
	}
}

// stay sends a part of a body, and waits until the server closes the connection or ctx ends.
func stay(ctx context.Context, connection net.Conn, body string) {
	defer func() { _ = connection.Close() }()
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	_, _ = io.WriteString(connection, body)
	_, _ = io.Copy(io.Discard, connection)
}

// Clients that send slowly or not at all delay neither a small nor a large review of others.
func TestSlowClients(t *testing.T) {
	for name, c := range map[string]struct {
		connections  int
		header, body string
	}{
		"silent":                    {60, "Content-Length: 1000000", ""},
		"silent, of unknown size":   {60, "Transfer-Encoding: chunked", ""},
		"silent, with a list":       {60, "Content-Length: 300000000", ""},
		"slow, of unknown size":     {10, "Transfer-Encoding: chunked", "20000\r\n" + strings.Repeat(" ", 0x20000) + "\r\n"},
		"slow, with a part":         {60, "Content-Length: 1000000", strings.Repeat(" ", 900_000)},
		"slow, with a list":         {10, "Content-Length: 300000000", strings.Repeat(" ", 1<<20)},
		"slow, with a large object": {20, "Content-Length: 8000000", strings.Repeat(" ", 2<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t)
			hold(t, server, c.connections, c.header, c.body)
			for _, object := range []string{older("a"), large("a", 1_200_000)} {
				converts(t, server, object)
			}
		})
	}
}

// converts checks that the server converts an object in time.
func converts(t *testing.T, server *httptest.Server, object string) {
	t.Helper()
	server.Client().Timeout = prompt
	got := post(t, server, strings.NewReader(reviewOf(v2, object)))
	if got.Response.Result.Status != metav1.StatusSuccess {
		t.Errorf("a review of %d bytes: %+v", len(object), got.Response.Result)
	}
}
