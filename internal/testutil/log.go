package testutil

import (
	"bytes"
	"sync"
)

// Log keeps what a program writes, for a test that reads while it goes on writing. So
// does every test that runs the manager: controller-runtime keeps the first logger of a
// process, so that what a later test logs from many goroutines goes to the first's.
type Log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write keeps p.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

// String is all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}
