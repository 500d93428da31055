//go:build server

package boot

import (
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// redisPassword contains characters that must be encoded in a URL, because the server inserts the password into a URL.
const redisPassword = "r3d!s/with:odd@signs#and?%41+ [x]"

// redisServer is a running Redis server.
type redisServer struct {
	address  string
	password string
}

// startRedis starts an empty Redis server with a password for the test.
func startRedis(t *testing.T) *redisServer {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	r := &redisServer{address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), password: redisPassword}
	cmd := exec.Command(filepath.Join(support.Redis, "redis-server"), "--bind", "127.0.0.1", "--port", strconv.Itoa(port),
		"--requirepass", r.password, "--save", "", "--appendonly", "no")
	cmd.Dir = t.TempDir()
	p, err := startProcess(t, cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	p.waitListening(t, r.address)
	return r
}

// waitListening waits until a program accepts connections.
func (p *process) waitListening(t *testing.T, address string) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			connection.Close()
			return
		}
		select {
		case <-p.exited:
			t.Fatalf("%q ended: %s\n%s", p.cmd.Path, p.cmd.ProcessState, p.log.tail(logTail))
		case <-deadline.C:
			t.Fatalf("%q does not accept connections: %v", p.cmd.Path, err)
		case <-tick.C:
		}
	}
}
