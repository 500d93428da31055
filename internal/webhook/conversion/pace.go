package conversion

import (
	"io"
	"net/http"
	"time"
)

const (
	// grace is the time that a client may take in addition to the time that its bytes take at the rate `slowest`.
	grace = 10 * time.Second
	// slowest is the minimum rate of reading and writing, in bytes per second. An API server is a thousand times as
	// fast. Without a minimum rate, a client that sends byte by byte would block other clients.
	slowest = 1 << 20
	// deadlineEvery is the number of bytes after which deadlines are moved.
	deadlineEvery = 256 << 10
)

// pace ends requests that are too slow. The time for which a review waits for other reviews does not count.
type pace struct {
	body    io.Reader
	control *http.ResponseController
	start   time.Time
	// in and out count the bytes so far. due is the sum of both counts at which the deadlines are moved next.
	in, out, due int64
}

func newPace(w http.ResponseWriter, body io.Reader) *pace {
	p := &pace{body: body, control: http.NewResponseController(w), start: time.Now()}
	p.move()
	return p
}

// Read reads the body of the request.
func (p *pace) Read(data []byte) (int, error) {
	n, err := p.body.Read(data)
	p.in += int64(n)
	p.move()
	return n, err
}

// write writes a part of the response.
func (p *pace) write(w io.Writer, data []byte) error {
	p.out += int64(len(data))
	p.move()
	_, err := w.Write(data)
	return err
}

// move sets the deadlines. It ignores errors, because all response writers support deadlines, except those in tests.
func (p *pace) move() {
	moved := p.in + p.out
	if moved < p.due {
		return
	}
	p.due = moved + deadlineEvery
	deadline := p.start.Add(grace + time.Duration(moved)*(time.Second/slowest))
	_ = p.control.SetReadDeadline(deadline)
	_ = p.control.SetWriteDeadline(deadline)
}

// end removes the deadlines, because the connection is reused for other requests.
func (p *pace) end() {
	_ = p.control.SetReadDeadline(time.Time{})
	_ = p.control.SetWriteDeadline(time.Time{})
}
