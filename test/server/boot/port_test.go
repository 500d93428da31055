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

// The system gives connections their ports from 32768 on. A port below that can be taken only by a program that asks
// for it. Control planes of other tests use ports above.
const (
	firstPort = 10000
	lastPort  = 19999
)

// taken has the ports that were returned; each is returned once.
var taken sync.Map

// freePort returns a port without a listener on any address, because servers listen on all of them. It is chosen by
// chance, because other tests look for one too.
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
			return 0, fmt.Errorf("give port back: %w", err)
		}
		return port, nil
	}
	return 0, errors.New("find free port: none of 200 is")
}
