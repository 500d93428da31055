package intake

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Limits are the bounds of a Pool, in bytes.
type Limits struct {
	// Held bounds the bodies and the responses in memory.
	Held int64
	// Worked bounds the bodies that are processed at the same time. A body that is larger than this is processed alone.
	Worked int64
}

const (
	// silence, patience and fast determine how far behind a client is. A client is behind if it is silent for longer than
	// silence, or if its bytes took longer than patience and the time that they take at the rate fast, in bytes per
	// second. It loses its place only to another request.
	// Both are longer than TCP takes to send a lost packet again, which is 200 ms.
	silence  = 300 * time.Millisecond
	patience = 400 * time.Millisecond
	fast     = 8 << 20
	// recheck is the pause after which a request that waits for memory looks again for a client that is behind.
	recheck = 10 * time.Millisecond
	// memoryWait bounds the time for which a request waits for memory.
	memoryWait = 5 * time.Second
	// smallestWork is the minimum number of bytes that count for a body that is processed.
	smallestWork = 32 << 10
)

// Pool is the memory that the requests of one webhook share.
type Pool struct {
	limits Limits
	work   *semaphore.Weighted
	// stream is the place of the only request that is processed while it is read.
	stream chan struct{}

	mu        sync.Mutex
	free      int64
	open      map[*Exchange]struct{}
	streaming *Exchange
	// returned is closed when bytes become free, and then replaced.
	returned chan struct{}
}

// New returns a Pool.
func New(limits Limits) *Pool {
	return &Pool{
		limits: limits, work: semaphore.NewWeighted(limits.Worked), stream: make(chan struct{}, 1), free: limits.Held,
		open: map[*Exchange]struct{}{}, returned: make(chan struct{}),
	}
}

// Work waits until a body of this size can be processed. The caller must call leave.
func (p *Pool) Work(ctx context.Context, size int) (leave func(), err error) {
	weight := min(max(int64(size), smallestWork), p.limits.Worked)
	if err := p.work.Acquire(ctx, weight); err != nil {
		return nil, fmt.Errorf("wait for other requests: %w", err)
	}
	return func() { p.work.Release(weight) }, nil
}

// Stream waits until a request can be processed while it is read. Only one request at a time is. If its client is
// behind, the request ends in favor of the next one. The caller must call leave.
func (p *Pool) Stream(ctx context.Context, x *Exchange) (leave func(), err error) {
	for {
		select {
		case p.stream <- struct{}{}:
			p.stand(x)
			return func() {
				p.stand(nil)
				<-p.stream
			}, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another request: %w", context.Cause(ctx))
		case <-time.After(recheck):
			p.relieveStream()
		}
	}
}

// stand records which request is processed while it is read.
func (p *Pool) stand(x *Exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.streaming = x
}

func (p *Pool) relieveStream() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.streaming != nil && p.streaming.behind(time.Now()) > 0 {
		p.streaming.end()
	}
}

// take reserves n bytes for a request, if necessary in place of another request.
func (p *Pool) take(ctx context.Context, x *Exchange, n int64) error {
	deadline := time.After(memoryWait)
	for {
		returned, err := p.tryTake(x, n)
		if returned == nil || err != nil {
			return err
		}
		select {
		case <-returned:
		case <-time.After(recheck):
		case <-ctx.Done():
			return fmt.Errorf("wait for memory: %w", context.Cause(ctx))
		case <-deadline:
			return ErrBusy
		}
	}
}

// tryTake reserves n bytes. If there is no memory, it returns a channel that is closed when memory becomes free.
func (p *Pool) tryTake(x *Exchange, n int64) (returned <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case x.ended:
		return nil, ErrSlow
	case p.free >= n && !p.olderWaits(x.opened):
		p.free -= n
		x.held += n
		x.wants = 0
		return nil, nil
	}
	x.wants = n
	p.relieve(time.Now())
	return p.returned, nil
}

// olderWaits reports whether an older request waits for memory that is free. It goes first.
func (p *Pool) olderWaits(opened time.Time) bool {
	for x := range p.open {
		if x.wants > 0 && x.wants <= p.free && !x.ended && x.opened.Before(opened) {
			return true
		}
	}
	return false
}

// relieve ends the request that takes the most from others: the product of how far its client is behind and of the
// memory that it holds. If all requests that hold memory wait for more of it, relieve ends the oldest.
func (p *Pool) relieve(now time.Time) {
	var slowest, oldest *Exchange
	var taken float64
	stuck := true
	for x := range p.open {
		if x.ended && x.held > 0 {
			return // its memory becomes free soon
		}
		if x.held == 0 {
			continue // it waits for its first bytes, or for its penalty
		}
		if takes := x.behind(now).Seconds() * float64(x.held); takes > taken {
			slowest, taken = x, takes
		}
		stuck = stuck && x.wants > 0
		if oldest == nil || x.opened.Before(oldest.opened) {
			oldest = x
		}
	}
	switch {
	case slowest != nil:
		slowest.end()
	case stuck && oldest != nil:
		oldest.end()
	}
}

// giveBack returns n bytes of a request.
func (p *Pool) giveBack(x *Exchange, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.wants = 0
	p.free += n
	x.held -= n
	close(p.returned)
	p.returned = make(chan struct{})
}
