//go:build server

package boot

import (
	"errors"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// insideVariable is an environment variable that is set in a process that can reach only this machine.
const insideVariable = "BOOT_WITHOUT_NETWORK"

// withoutNetwork runs the calling test again, in a child process with its own network namespace, which has only a
// loopback interface. It reports whether the current process is this child process. The child process uses the Python
// environments that the parent process has installed.
func withoutNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		checkNoRoute(t)
		return true
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"--net", "--mount"}
	if os.Geteuid() != 0 {
		words = append(words, "--user", "--map-root-user")
	}
	words = append(words, "/bin/sh", "-c", `ip link set lo up && exec "$0" "$@"`,
		program, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=30m")
	cmd := exec.Command("unshare", words...)
	if cmd.Dir, err = os.Getwd(); err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	p, err := startProcess(t, cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
	output := p.log.tail(math.MaxInt32)
	if !p.cmd.ProcessState.Success() {
		t.Fatalf("without a network: %s\n%s", p.cmd.ProcessState, output)
	}
	for line := range strings.Lines(output) {
		if strings.Contains(line, ": offline: ") || strings.Contains(line, ": proven before") {
			t.Log(strings.TrimSpace(line))
		}
	}
	return false
}

// readOnly makes a directory read-only even for root, like a read-only volume.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	for _, words := range [][]string{{"--bind", dir, dir}, {"-o", "remount,ro,bind", dir}} {
		if out, err := exec.CommandContext(t.Context(), "mount", words...).CombinedOutput(); err != nil {
			t.Fatalf("mount %q: %v\n%s", words, err, out)
		}
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", dir).CombinedOutput(); err != nil {
			t.Errorf("unmount %q: %v\n%s", dir, err, out)
		}
	})
}

// checkNoRoute checks that this process cannot reach any other machine.
func checkNoRoute(t *testing.T) {
	t.Helper()
	interfaces, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 && i.Flags&net.FlagUp != 0 {
			t.Fatalf("the namespace has another active interface, %s", i.Name)
		}
	}
	connection, err := net.DialTimeout("tcp", "192.0.2.1:443", time.Second)
	if err == nil {
		connection.Close()
	}
	if !errors.Is(err, syscall.ENETUNREACH) {
		t.Fatalf("connecting to another network: got %v, want %v", err, syscall.ENETUNREACH)
	}
}
