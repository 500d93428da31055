package intake_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/webhook/intake"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// serve starts a server that reads bodies of at most 1 MiB, and answers with their size.
func serve(t *testing.T, pool *intake.Pool) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchange := pool.Open(w, r)
		defer exchange.Close()
		body, whole, err := exchange.Body(r.Context(), 1<<20)
		if err == nil && !whole {
			err = errors.New("too long")
		}
		if err != nil {
			exchange.Refuse(r.Context(), w, err)
			return
		}
		leave, err := pool.Work(r.Context(), len(body))
		if err != nil {
			exchange.Refuse(r.Context(), w, err)
			return
		}
		leave()
		_, _ = exchange.Write(body)
	}))
	t.Cleanup(server.Close)
	return server
}

// unsized hides the size of a body.
type unsized struct{ io.Reader }

func TestBody(t *testing.T) {
	server := serve(t, intake.New(intake.Limits{Held: 2 << 20, Worked: 1 << 20}))
	for name, c := range map[string]struct {
		size, code int
	}{
		"empty": {0, 200}, "one byte": {1, 200}, "the limit": {1 << 20, 200}, "too long": {1<<20 + 1, 400},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat("x", c.size)
			for _, body := range []io.Reader{strings.NewReader(text), unsized{strings.NewReader(text)}} {
				if code, said := testutil.Post(t, server, body); code != c.code || code == http.StatusOK && said != text {
					t.Errorf("%d with %d bytes", code, len(said))
				}
			}
		})
	}
}

// A silent client gets an error after a second, and its connection is closed.
func TestSilentClient(t *testing.T) {
	server := serve(t, intake.New(intake.Limits{Held: 2 << 20, Worked: 1 << 20}))
	for name, head := range map[string]string{
		"a size": "Content-Length: 900000", "no size": "Transfer-Encoding: chunked",
	} {
		t.Run(name, func(t *testing.T) {
			connection, err := net.Dial("tcp", server.Listener.Addr().String())
			testutil.Must(t, err)
			defer func() { _ = connection.Close() }()
			if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: x\r\n"+head+"\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			said, err := io.ReadAll(connection)
			if err != nil || !strings.HasPrefix(string(said), "HTTP/1.1 408 ") {
				t.Errorf("%v: %q", err, said)
			}
		})
	}
}

// The request whose client is the furthest behind ends if memory is short. The memory is then free for the next one.
func TestShortOfMemory(t *testing.T) {
	server := serve(t, intake.New(intake.Limits{Held: 1 << 20, Worked: 1 << 20}))
	reader, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, reader)
		if err != nil {
			return
		}
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	if _, err := writer.Write(make([]byte, 900_000)); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1<<20)
	for range 3 {
		if code, said := testutil.Post(t, server, strings.NewReader(text)); code != http.StatusOK || said != text {
			t.Fatalf("%d: %.100s", code, said)
		}
	}
	_ = writer.Close()
	<-ended
}

// A stream ends in favor of the next one if its client is behind.
func TestStream(t *testing.T) {
	pool := intake.New(intake.Limits{Held: 1 << 20, Worked: 1 << 20})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchange := pool.Open(w, r)
		defer exchange.Close()
		leave, err := pool.Stream(r.Context(), exchange)
		if err != nil {
			exchange.Refuse(r.Context(), w, err)
			return
		}
		defer leave()
		if _, err := io.Copy(io.Discard, exchange); err != nil {
			exchange.Refuse(r.Context(), w, err)
		}
	}))
	defer server.Close()
	for range 5 {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		testutil.Must(t, err)
		t.Cleanup(func() { _ = connection.Close() })
		if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	if code, said := testutil.Post(t, server, strings.NewReader("x")); code != http.StatusOK {
		t.Errorf("%d: %s", code, said)
	}
}
