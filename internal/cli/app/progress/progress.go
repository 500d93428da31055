package progress

import (
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/visible"
)

// columns is the maximum length of the line in characters. A terminal with 60 columns would wrap a longer line, which
// then could not be replaced.
const columns = 59

// Line is a line that shows the progress of a command. Without a terminal, it shows nothing. Its methods are safe for
// concurrent use.
type Line struct {
	w     io.Writer
	mu    sync.Mutex
	shown bool
}

// New returns a line on a terminal. A nil writer means that there is no terminal.
func New(w io.Writer) *Line { return &Line{w: w} }

// Show replaces the text of the line.
func (l *Line) Show(format string, args ...any) {
	if l.w == nil {
		return
	}
	text := []rune(visible.Text(fmt.Sprintf(format, args...)))
	if len(text) > columns {
		text = append(text[:columns-1], '…')
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown = true
	_, _ = fmt.Fprintf(l.w, "\r\x1b[K%s", string(text))
}

// Clear removes the line. Call it before you print other text.
func (l *Line) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		l.shown = false
		_, _ = io.WriteString(l.w, "\r\x1b[K")
	}
}

// step is the number of sent bytes between two calls to an observer.
const step = 1 << 20

// Sent is a transport that counts the bytes in the bodies of requests.
type Sent struct {
	through http.RoundTripper
	observe func(sent int64)

	mu         sync.Mutex
	sent, told int64
}

// NewSent returns a transport that calls `observe` about once per MiB.
func NewSent(through http.RoundTripper, observe func(sent int64)) *Sent {
	return &Sent{through: through, observe: observe}
}

// Reset sets the count to zero.
func (s *Sent) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.told = 0, 0
}

// RoundTrip sends a request.
func (s *Sent) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil && request.Body != http.NoBody {
		counted := *request
		counted.Body = &body{ReadCloser: request.Body, sent: s}
		request = &counted
	}
	return s.through.RoundTrip(request) //nolint:wrapcheck // a transport returns the error of the next one
}

func (s *Sent) add(n int) {
	s.mu.Lock()
	s.sent += int64(n)
	now, due := s.sent, s.sent-s.told >= step
	if due {
		s.told = s.sent
	}
	s.mu.Unlock()
	if due {
		s.observe(now)
	}
}

// body counts the bytes that a transport reads from the body of a request.
type body struct {
	io.ReadCloser
	sent *Sent
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.sent.add(n)
	return n, err //nolint:wrapcheck // a reader returns io.EOF unchanged
}
