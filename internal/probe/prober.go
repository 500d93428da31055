package probe

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// Options of a Prober.
type Options struct {
	// Dial reaches servers; nil: by the network and its DNS.
	Dial Dial
	// Notify is told of each stack whose server answered. It may block until ctx ends.
	Notify func(ctx context.Context, stack types.NamespacedName)
	// FirstRetry is the pause after a first attempt that failed; it doubles with
	// each. Zero: 5 seconds.
	FirstRetry time.Duration
	// Log gets what only matters when somebody looks for it.
	Log logr.Logger
}

const (
	// attempts for one roll-out; then it is quiet until the next one.
	attempts   = 5
	firstRetry = 5 * time.Second
	lastRetry  = 2 * time.Minute
	// workers ask at the same time, perSecond requests at most: a new leader asks
	// every stack there is.
	workers   = 4
	perSecond = 10
)

// Prober asks servers for their version. It is a worker of the manager.
type Prober struct {
	client  *http.Client
	notify  func(context.Context, types.NamespacedName)
	log     logr.Logger
	queue   workqueue.TypedRateLimitingInterface[types.NamespacedName]
	limiter *rate.Limiter

	mu      sync.Mutex
	servers map[types.NamespacedName]*server
}

// server is what is known of one.
type server struct {
	target Target
	// failed attempts for this roll-out.
	failed int
	// done: it answered, or will not be asked again.
	done    bool
	version string
}

// New makes a Prober; it asks nothing before Start.
func New(options Options) *Prober {
	if options.Dial == nil {
		options.Dial = new(net.Dialer).DialContext
	}
	if options.FirstRetry == 0 {
		options.FirstRetry = firstRetry
	}
	return &Prober{
		client: newClient(options.Dial), notify: options.Notify, log: options.Log,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](options.FirstRetry, lastRetry)),
		limiter: rate.NewLimiter(perSecond, perSecond),
		servers: map[types.NamespacedName]*server{},
	}
}

// Version is what the server of this roll-out said. Empty: it was not asked yet,
// and is now, or it cannot be asked. It does not wait.
func (p *Prober) Version(target Target) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[target.Stack]
	if ok && known.target == target {
		return known.version
	}
	p.servers[target.Stack] = &server{target: target}
	p.queue.Forget(target.Stack)
	p.queue.Add(target.Stack)
	return ""
}

// Forget drops what is known of a stack that is gone.
func (p *Prober) Forget(stack types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.servers, stack)
	p.queue.Forget(stack)
}

// Start asks until ctx ends.
func (p *Prober) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for p.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	group.Wait()
	return nil
}

// next asks one server; false when there will be no more.
func (p *Prober) next(ctx context.Context) bool {
	stack, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(stack)
	target, ok := p.waiting(stack)
	if !ok {
		return true
	}
	if p.limiter.Wait(ctx) != nil {
		return false
	}
	version, err := version(ctx, p.client, target)
	if ctx.Err() != nil {
		return false
	}
	if p.conclude(target, version, err) {
		p.notify(ctx, stack)
	}
	return true
}

// waiting is the server to ask now, if there still is one.
func (p *Prober) waiting(stack types.NamespacedName) (Target, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[stack]
	if !ok || known.done {
		return Target{}, false
	}
	return known.target, true
}

// conclude notes the outcome of an attempt; true when there is news to tell. An
// answer of pods that are gone meanwhile is none.
func (p *Prober) conclude(target Target, version string, err error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[target.Stack]
	if !ok || known.target != target {
		return false // another roll-out is in the queue
	}
	if err == nil {
		known.version, known.done = version, true
		p.queue.Forget(target.Stack)
		return true
	}
	known.failed++
	known.done = final(err) || known.failed >= attempts
	p.log.V(1).Info("Server does not tell its version", "stack", target.Stack.String(), "error", err.Error(), "again", !known.done)
	if known.done {
		p.queue.Forget(target.Stack)
	} else {
		p.queue.AddRateLimited(target.Stack)
	}
	return false
}
