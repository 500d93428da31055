//go:build server

package boot

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// The system chooses ports from 32768 upward for connections. A lower port can be in use only if a program requested
// it. Control planes of other tests use higher ports.
const (
	firstPort = 10000
	lastPort  = 19999
)

// taken contains the ports that were tried, so that each port is returned at most once.
var taken sync.Map

// freePort returns a port on which no program listens on any address, because servers listen on all addresses. It tries
// random ports, because other tests look for free ports at the same time.
func freePort() (int, error) {
	for range 200 {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		if _, again := taken.LoadOrStore(port, true); again {
			continue
		}
		listener, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("release port: %w", err)
		}
		return port, nil
	}
	return 0, errors.New("find free port: none of 200 ports is free")
}
