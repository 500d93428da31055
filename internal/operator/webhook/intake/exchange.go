package intake

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

const (
	// grace is the time for which a client may keep a request waiting, in addition to the time that its bytes take at the
	// rate slowest.
	grace = time.Second
	// slowest is the minimum rate of reading and writing, in bytes per second. An API server is a hundred times as fast.
	slowest = 1 << 20
	// first is the size of the first buffer for a body. Each further buffer is growth times as large, so that a client
	// must send a part of the memory that it takes.
	first, growth = 4 << 10, 2
)

// penalty is the time after which a slow client gets its answer.
const penalty = time.Second

// ErrSlow is the error for a client that does not send or read for a second, or that is behind while memory is short.
var ErrSlow = errors.New("the client is too slow")

// ErrBusy is the error for a request for which there was no memory.
var ErrBusy = errors.New("other requests use the memory for requests")

// Exchange is one request and its response.
type Exchange struct {
	pool    *Pool
	control *http.ResponseController
	from    io.Reader
	to      io.Writer
	size    int64
	opened  time.Time

	// The mutex of the pool protects the fields from here on.

	// held is the number of bytes in memory. moved is the number of bytes that were read and written.
	held, moved int64
	// waited is the time for which the client kept the request waiting until `since`. since is zero if the request does
	// not wait for its client.
	waited time.Duration
	since  time.Time
	// wants is the number of bytes for which the request waits.
	wants int64
	// ended reports whether the request ends in favor of another one. complete reports whether the whole body was read.
	ended, complete bool
}

// Open begins an exchange. The caller must close it.
func (p *Pool) Open(w http.ResponseWriter, r *http.Request) *Exchange {
	x := &Exchange{
		pool: p, control: http.NewResponseController(w), from: r.Body, to: w, size: r.ContentLength, opened: time.Now(),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[x] = struct{}{}
	return x
}

// Close returns the memory. It removes the deadlines if the connection can be reused for other requests. Otherwise, the
// HTTP server does not wait for the rest of the body.
func (x *Exchange) Close() {
	x.Drop()
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	delete(x.pool.open, x)
	read, write := time.Time{}, time.Time{}
	if !x.complete || x.ended {
		read, write = past, time.Now().Add(grace)
	}
	_ = x.control.SetReadDeadline(read)
	_ = x.control.SetWriteDeadline(write)
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// Refuse answers a request whose body cannot be read, and closes the connection. A slow client first waits without its
// memory, so that clients that try again and again do not take the time of others.
func (x *Exchange) Refuse(ctx context.Context, w http.ResponseWriter, err error) {
	x.Drop()
	if errors.Is(err, ErrSlow) {
		select {
		case <-time.After(penalty):
		case <-ctx.Done():
		}
	}
	code := http.StatusBadRequest
	switch {
	case errors.Is(err, ErrSlow):
		code = http.StatusRequestTimeout
	case errors.Is(err, ErrBusy):
		code = http.StatusServiceUnavailable
	}
	w.Header().Set("Connection", "close")
	http.Error(w, err.Error(), code)
}

// Drop returns the memory of the body, when the body is no longer needed.
func (x *Exchange) Drop() { x.pool.giveBack(x, x.held) }

// Hold reserves memory for a response.
func (x *Exchange) Hold(ctx context.Context, size int) error { return x.pool.take(ctx, x, int64(size)) }

// Work waits until a body of this size can be processed. The caller must call leave.
func (x *Exchange) Work(ctx context.Context, size int) (leave func(), err error) {
	return x.pool.Work(ctx, size)
}

// Body reads the body. It returns false if the body is longer than `limit`, in which case Read returns the rest.
func (x *Exchange) Body(ctx context.Context, limit int64) (body []byte, whole bool, err error) {
	most := limit
	if x.size >= 0 {
		most = min(limit, x.size)
	}
	for {
		if len(body) == cap(body) && int64(len(body)) < most {
			if body, err = x.grow(ctx, body, most); err != nil {
				return nil, false, err
			}
		}
		if int64(len(body)) == most {
			whole := x.size == most || x.size < 0 && x.atEnd()
			if whole {
				x.completes()
			}
			return body, whole, nil
		}
		n, err := x.Read(body[len(body):min(int64(cap(body)), most)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, true, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
}

// grow returns a larger buffer with the same content.
func (x *Exchange) grow(ctx context.Context, body []byte, most int64) ([]byte, error) {
	size := min(max(first, int64(cap(body))*growth), most)
	if err := x.pool.take(ctx, x, size-int64(cap(body))); err != nil {
		return nil, err
	}
	return append(make([]byte, 0, size), body...), nil
}

// atEnd reports whether a body of unknown size ends here. Otherwise, the byte that it read is the first of the rest.
func (x *Exchange) atEnd() bool {
	next := make([]byte, 1)
	n, err := io.ReadFull(x, next)
	if n > 0 {
		x.from = io.MultiReader(bytes.NewReader(next), x.from)
		return false
	}
	return errors.Is(err, io.EOF)
}

// Read reads the body of the request.
func (x *Exchange) Read(data []byte) (int, error) {
	if err := x.begin(x.control.SetReadDeadline); err != nil {
		return 0, err
	}
	n, err := x.from.Read(data)
	if errors.Is(err, io.EOF) {
		x.completes()
	}
	return n, x.moves(n, err)
}

// completes records that the whole body was read. It removes the deadline for reading, because the HTTP server would
// otherwise consider the connection lost when the deadline passes.
func (x *Exchange) completes() {
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	x.complete = true
	if !x.ended {
		_ = x.control.SetReadDeadline(time.Time{})
	}
}

// Write writes a part of the response.
func (x *Exchange) Write(data []byte) (int, error) {
	written := 0
	for written < len(data) {
		if err := x.begin(x.control.SetWriteDeadline); err != nil {
			return written, err
		}
		n, err := x.to.Write(data[written:min(len(data), written+piece)])
		written += n
		if err := x.moves(n, err); err != nil {
			return written, err
		}
	}
	return written, nil
}

// piece is the number of bytes that are written before the deadline moves.
const piece = 256 << 10

// begin starts to wait for the client. It ignores errors from setting a deadline, because all response writers support
// deadlines, except those in tests.
func (x *Exchange) begin(deadline func(time.Time) error) error {
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	if x.ended {
		return ErrSlow
	}
	x.since = time.Now()
	_ = deadline(x.since.Add(grace + time.Duration(x.moved)*(time.Second/slowest) - x.waited))
	return nil
}

// moves records that n bytes moved. It returns ErrSlow for an error that is due to a deadline.
func (x *Exchange) moves(n int, err error) error {
	x.pool.mu.Lock()
	defer x.pool.mu.Unlock()
	x.waited += time.Since(x.since)
	x.since = time.Time{}
	x.moved += int64(n)
	if x.ended || errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrSlow
	}
	return err
}

// behind returns how far the client is behind, if the request waits for its client.
func (x *Exchange) behind(now time.Time) time.Duration {
	if x.since.IsZero() {
		return 0
	}
	silent := now.Sub(x.since)
	return max(silent-silence, x.waited+silent-patience-time.Duration(x.moved)*(time.Second/fast))
}

// end ends the request in favor of another one.
func (x *Exchange) end() {
	x.ended = true
	_ = x.control.SetReadDeadline(past)
	_ = x.control.SetWriteDeadline(past)
}
