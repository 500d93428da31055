package testutil

import (
	"bytes"
	"sync"
)

// Log collects the output of a program, for a test that reads it while the program continues to write. Every test that
// runs the manager does so: controller-runtime keeps the first logger of a process, so the output of a later test goes
// to the logger of the first, from many goroutines.
type Log struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

// Write appends p.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.Write(p)
}

// String returns all output so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buffer.String()
}
