package testutil

import (
	"bytes"
	"sync"
)

// Log collects the output of a program, for a test that reads the output while the program continues to write. Every
// test that runs the manager needs this type: controller-runtime keeps the first logger of a process, so the goroutines
// of later tests write to the logger of the first test.
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
