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

// The system gives connections their ports from 32768 on: a port from below can
// only be taken by whoever asks for that very one. Control planes of other tests
// take theirs above.
const (
	firstPort = 10000
	lastPort  = 19999
)

// taken holds the ports that were given out; each is given out once.
var taken sync.Map

// freePort returns a port that nobody listens at, on any address: servers listen
// on all of them. It is chosen by chance, because other tests look for one too.
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
