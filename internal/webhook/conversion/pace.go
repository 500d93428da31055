package conversion

import (
	"io"
	"net/http"
	"time"
)

const (
	// grace is what a sender or reader may take beside its bytes.
	grace = 10 * time.Second
	// slowest is how many bytes a second are to come or go at least. An API server is a thousand times as fast; who
	// sends byte by byte would keep others from being served.
	slowest = 1 << 20
	// deadlineEvery is after how many bytes deadlines move.
	deadlineEvery = 256 << 10
)

// pace ends requests that are too slow. Time does not pass for a review that waits for others.
type pace struct {
	body    io.Reader
	control *http.ResponseController
	start   time.Time
	// in and out are the bytes so far, and due those at which a deadline moves.
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

// write writes a part of the answer.
func (p *pace) write(w io.Writer, data []byte) error {
	p.out += int64(len(data))
	p.move()
	_, err := w.Write(data)
	return err
}

// move sets the deadlines. A server without any is one of a test.
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

// end takes the deadlines away: the connection goes on to other requests.
func (p *pace) end() {
	_ = p.control.SetReadDeadline(time.Time{})
	_ = p.control.SetWriteDeadline(time.Time{})
}
