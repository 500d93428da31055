package manager

import (
	"strings"
	"sync"
)

// Buffer collects what a program writes. Every test that calls Run gives one:
// controller-runtime keeps the logger of the first call for the whole process,
// so what a later test logs from many goroutines goes to the first's writer.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write adds to the buffer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is all that was written.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
