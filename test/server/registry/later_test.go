//go:build server

package registry

import (
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestBackendThatStartsLater shows that the program waits for a backend that cannot be reached when it starts, as in a
// pod whose service mesh starts its sidecar together with the server.
func TestBackendThatStartsLater(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		if w.store == "kv_sqlite" {
			return
		}
		port := strconv.Itoa(shared.redis)
		if w.store == "kv_postgres" {
			port = strconv.Itoa(shared.postgres)
		}
		later, err := testutil.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(declares(modelA).text(w), "port: "+port, "port: "+strconv.Itoa(later), 1)
		time.AfterFunc(3*time.Second, func() { forward(t, strconv.Itoa(later), port) })
		if output := w.pod(nil).run(t, config{inFull: text}); !strings.Contains(output, "in line") {
			t.Errorf("the registry is not updated:\n%s", output)
		}
	})
}

// forward listens on a port, and forwards connections to another port, until the test ends.
func forward(t *testing.T, from, to string) {
	var listening net.ListenConfig
	listener, err := listening.Listen(t.Context(), "tcp", "127.0.0.1:"+from)
	if err != nil {
		t.Error(err)
		return
	}
	go func() {
		<-t.Context().Done()
		listener.Close()
	}()
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		var dialer net.Dialer
		server, err := dialer.DialContext(t.Context(), "tcp", "127.0.0.1:"+to)
		if err != nil {
			client.Close()
			return
		}
		go func() { _, _ = io.Copy(server, client); server.Close() }()
		go func() { _, _ = io.Copy(client, server); client.Close() }()
	}
}
