package nodeinit

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestDescribe(t *testing.T) {
	for _, test := range []struct {
		name   string
		status syscall.WaitStatus // as in wait(2): the low bits contain the signal, and the high bits contain the exit code
		want   string
	}{
		{name: "exit code 0", status: 0, want: "exit code 0"},
		{name: "another exit code", status: 3 << 8, want: "exit code 3"},
		{name: "the highest exit code", status: 255 << 8, want: "exit code 255"},
		{name: "killed", status: syscall.WaitStatus(syscall.SIGKILL), want: "killed"},
		{name: "crashed with a core dump", status: 0x80 | syscall.WaitStatus(syscall.SIGSEGV), want: "segmentation fault"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := describe(test.status); got != test.want {
				t.Errorf("describe(%#x) = %q, want %q", uint32(test.status), got, test.want)
			}
		})
	}
}

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
