package binaries

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
)

// meter is the standard error of `go build -v`. It counts the names of compiled packages, shows on a terminal how many
// are done, and keeps everything else, which is the reason why a build fails.
type meter struct {
	out io.Writer
	// packages are the packages of the set that are not compiled yet, and all is their number at the start.
	packages    map[string]bool
	all         int
	start, next time.Time
	partial     []byte
	errors      bytes.Buffer
}

func newMeter(out io.Writer, packages []string) *meter {
	m := &meter{out: out, packages: map[string]bool{}, start: time.Now()}
	for _, name := range packages {
		m.packages[name] = true
	}
	m.all = len(m.packages)
	return m
}

// Write implements io.Writer.
func (m *meter) Write(data []byte) (int, error) {
	m.partial = append(m.partial, data...)
	for {
		line, rest, complete := bytes.Cut(m.partial, []byte("\n"))
		if !complete {
			return len(data), nil
		}
		m.partial = rest
		if name := string(line); m.packages[name] {
			delete(m.packages, name)
			m.report()
		} else {
			fmt.Fprintln(&m.errors, name)
		}
	}
}

// report replaces the line of a terminal, at most once a second. A log gets no line.
func (m *meter) report() {
	now := time.Now()
	if !terminal(m.out) || now.Before(m.next) {
		return
	}
	m.next = now.Add(time.Second)
	done := m.all - len(m.packages)
	left := time.Duration(float64(now.Sub(m.start)) / float64(done) * float64(len(m.packages)))
	fmt.Fprintf(m.out, "\r  packages                 %d of %d, at most %s left ", done, m.all, left.Round(time.Second))
}

// said returns the end of what is not the name of a package.
func (m *meter) said() string { return lastLines(m.errors.String()+string(m.partial), 30) }

func terminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
