package logs

import (
	"bufio"
	"errors"
	"io"
	"sync"
)

// MaxLine is the maximum number of bytes in a line that Copy writes with a prefix, without counting the prefix. Copy
// splits longer lines.
const MaxLine = 64 << 10

// Merger writes the lines of several streams to one output.
type Merger struct {
	lock sync.Mutex
	out  io.Writer
}

// NewMerger returns a merger that writes to an output.
func NewMerger(out io.Writer) *Merger { return &Merger{out: out} }

// Copy writes a stream line by line, each line with a prefix, until the stream ends. It splits lines that are longer
// than MaxLine. Several goroutines can call Copy with a prefix at the same time. Without a prefix, Copy writes the
// stream unchanged. In that case, only one goroutine can call Copy.
func (m *Merger) Copy(in io.Reader, prefix string) error {
	if prefix == "" {
		_, err := io.Copy(m.out, in)
		return err
	}
	reader := bufio.NewReaderSize(in, MaxLine)
	for {
		line, err := reader.ReadSlice('\n')
		if len(line) > 0 {
			if failed := m.write(prefix, line); failed != nil {
				return failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// write writes one line under the lock.
func (m *Merger) write(prefix string, line []byte) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	if _, err := io.WriteString(m.out, prefix); err != nil {
		return err
	}
	if _, err := m.out.Write(line); err != nil {
		return err
	}
	if line[len(line)-1] == '\n' {
		return nil
	}
	_, err := io.WriteString(m.out, "\n")
	return err
}
