package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The constants firstPort and lastPort limit the range from which choosePorts chooses free ports. This range is below
// the range that Linux uses for outgoing connections (32768 and up), so that no client on the machine uses a chosen
// port before the component starts.
const (
	firstPort = 20000
	lastPort  = 32767
	portTries = 1000
)

// loopback is the only address that components listen on if there is no node.
const loopback = "127.0.0.1"

// ports are the TCP ports of the components.
type ports struct {
	etcd, etcdPeer, apiServer, controllerManager, scheduler int
}

// choosePorts finds free ports. The requested port of the API server must be free, unless it is 0.
func choosePorts(ctx context.Context, wanted int) (ports, error) {
	taken := map[int]bool{wanted: true}
	if wanted != 0 && !free(ctx, wanted) {
		return ports{}, fmt.Errorf("port %d on %s is in use; choose another port, or 0 for any free port", wanted, loopback)
	}
	p := ports{apiServer: wanted}
	for _, port := range []*int{&p.apiServer, &p.etcd, &p.etcdPeer, &p.controllerManager, &p.scheduler} {
		if *port != 0 {
			continue
		}
		found, err := freePort(ctx, taken)
		if err != nil {
			return ports{}, err
		}
		*port, taken[found] = found, true
	}
	return p, nil
}

// freePort returns a free port. It tries random ports, because other processes on the machine may look for a port at
// the same time.
func freePort(ctx context.Context, taken map[int]bool) (int, error) {
	for range portTries {
		port := firstPort + rand.IntN(lastPort-firstPort+1) //nolint:gosec // a port is not a secret
		if !taken[port] && free(ctx, port) {
			return port, nil
		}
	}
	return 0, errors.New("no free TCP port found")
}

func free(ctx context.Context, port int) bool {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address(port))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

func url(port int) string { return "https://" + address(port) }
