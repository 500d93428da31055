package nodeinit

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A program that needs a socket is started only when the socket accepts connections. The socket file is not sufficient,
// because it still exists after the program that created it has been killed.
func TestOfferWaitsForSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	k := &keeper{starts: make(chan Command), failures: make(chan error, 1)}
	go k.offer(Command{Name: "kubelet", Needs: path})
	select {
	case <-k.starts:
		t.Fatal("started without its socket")
	case err := <-k.failures:
		t.Fatal(err)
	case <-time.After(4 * socketPoll):
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	select {
	case got := <-k.starts:
		if got.Name != "kubelet" {
			t.Errorf("started %q", got.Name)
		}
	case err := <-k.failures:
		t.Fatal(err)
	}
}
