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

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
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
	port, err := testutil.FreePort()
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
	err := p.poll(time.Minute, 20*time.Millisecond, func() error {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return err
		}
		return connection.Close()
	})
	if err != nil {
		t.Fatalf("%q does not accept connections: %v\n%s", p.cmd.Path, err, p.log.tail(logTail))
	}
}
