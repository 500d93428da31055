package registry

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// pass advances the time in a synctest bubble.
func pass(some time.Duration) { <-time.After(some) }

// bufferedConn is an end of a pipe that buffers some writes, as a network does.
type bufferedConn struct {
	net.Conn
	writes chan []byte
	closed chan struct{}
	close  sync.Once
}

// lingering is the time for which a closed end waits for the other end to read.
const lingering = time.Second

func bufferedPipe() (client, server net.Conn) {
	one, other := net.Pipe()
	return newBufferedConn(one), newBufferedConn(other)
}

func newBufferedConn(end net.Conn) net.Conn {
	b := &bufferedConn{Conn: end, writes: make(chan []byte, 64), closed: make(chan struct{})}
	go b.pump()
	return b
}

// pump sends the buffered writes until the connection is closed, including all writes that were buffered before that.
func (b *bufferedConn) pump() {
	defer func() {
		_ = b.Close()
		_ = b.Conn.Close()
	}()
	for {
		select {
		case content := <-b.writes:
			if _, err := b.Conn.Write(content); err != nil {
				return
			}
		case <-b.closed:
			for len(b.writes) > 0 {
				if _, err := b.Conn.Write(<-b.writes); err != nil {
					return
				}
			}
			return
		}
	}
}

func (b *bufferedConn) Write(content []byte) (int, error) {
	select {
	case b.writes <- bytes.Clone(content):
		return len(content), nil
	case <-b.closed:
		return 0, net.ErrClosed
	}
}

func (b *bufferedConn) Close() error {
	b.close.Do(func() {
		close(b.closed)
		_ = b.SetReadDeadline(time.Unix(1, 0))
		_ = b.Conn.SetWriteDeadline(time.Now().Add(lingering))
	})
	return nil
}

func (b *bufferedConn) SetDeadline(at time.Time) error   { return b.SetReadDeadline(at) }
func (b *bufferedConn) SetWriteDeadline(time.Time) error { return nil }
