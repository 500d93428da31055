package testutil

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// FreePort chooses ports from this range. It is below the range that Linux uses for outgoing connections and for
// listeners on port 0 (32768 and up), so that Linux does not assign a chosen port to another socket before the program
// under test listens on it.
const (
	firstPort = 20000
	lastPort  = 32767
	portTries = 1000
)

// chosen contains the ports that FreePort has tried, so that it tries each port only once.
var chosen sync.Map

// FreeAddress returns an address of this machine on which no program listens.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// FreePort returns a port of 127.0.0.1 on which no program listens. It tries random ports, because the processes of
// other tests look for ports at the same time.
func FreePort() (int, error) {
	for range portTries {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if _, again := chosen.LoadOrStore(port, true); again {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("release port %d: %w", port, err)
		}
		return port, nil
	}
	return 0, errors.New("find a free port: all ports that were tried are in use")
}
