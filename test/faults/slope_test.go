package faults_test

import (
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// slope is a proxy between the API server and etcd. It delays the data in both directions.
type slope struct {
	listener net.Listener
	target   string
	delay    atomic.Int64
}

func newSlope(t *testing.T, target string) *slope {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testutil.Must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	s := &slope{listener: listener, target: target}
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go s.join(from)
		}
	}()
	return s
}

// join copies data between two connections until one of them ends.
func (s *slope) join(from net.Conn) {
	to, err := net.Dial("tcp", s.target)
	if err != nil {
		_ = from.Close()
		return
	}
	go s.carry(to, from)
	s.carry(from, to)
}

// packet contains data, and the time at which to forward it.
type packet struct {
	data []byte
	due  time.Time
}

// carry forwards packets in order. While packets are delayed, it continues to read further packets.
func (s *slope) carry(into io.WriteCloser, from io.ReadCloser) {
	packets := make(chan packet, 1<<12)
	go func() {
		defer into.Close()
		for p := range packets {
			if wait := time.Until(p.due); wait > 0 {
				<-time.After(wait)
			}
			if _, err := into.Write(p.data); err != nil {
				_ = from.Close() // closing the connection also stops the goroutine that reads
			}
		}
	}()
	defer close(packets)
	for {
		data := make([]byte, 32<<10)
		n, err := from.Read(data)
		if n > 0 {
			packets <- packet{data[:n], time.Now().Add(time.Duration(s.delay.Load()))}
		}
		if err != nil {
			return
		}
	}
}
