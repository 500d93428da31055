package probe

import (
	"cmp"
	"context"
	"net"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"

	"github.com/llamastack/llama-stack-k8s-operator/internal/worker"
)

// Options of a Prober.
type Options struct {
	// Dial reaches servers; nil: by the network and its DNS.
	Dial Dial
	// Notify is told of each stack whose server said something new. It may block
	// until ctx ends.
	Notify func(ctx context.Context, stack types.NamespacedName)
	// FirstRetry is the pause after a first attempt that failed; it doubles with
	// each. Zero: 5 seconds.
	FirstRetry time.Duration
	// Interval is the pause between two questions for the health of providers. Zero:
	// 5 minutes.
	Interval time.Duration
	// Timeout of a request. Zero: 10 seconds.
	Timeout time.Duration
	// Log gets what only matters when somebody looks for it.
	Log logr.Logger
}

const (
	// attempts for one roll-out; then it is quiet until the next one.
	attempts   = 5
	firstRetry = 5 * time.Second
	lastRetry  = 2 * time.Minute
	// workers ask at the same time, perSecond requests at most: a new leader asks
	// every stack there is, and some servers answer nobody for a while.
	workers   = 16
	perSecond = 10
	// defaultInterval makes 100 stacks a request every three seconds. The pause
	// doubles while a server does not answer, up to longest times that; jitter spreads
	// the servers over it.
	defaultInterval = 5 * time.Minute
	longest         = 12
	jitter          = 0.2
)

// Prober asks servers for their version and their providers. It is a worker of
// the manager.
type Prober struct {
	client   client
	interval time.Duration
	notify   func(context.Context, types.NamespacedName)
	log      logr.Logger
	queue    workqueue.TypedRateLimitingInterface[types.NamespacedName]
	limiter  *rate.Limiter

	mu      sync.Mutex
	servers map[types.NamespacedName]*server
}

// New makes a Prober; it asks nothing before Start.
func New(options Options) *Prober {
	if options.Dial == nil {
		options.Dial = new(net.Dialer).DialContext
	}
	return &Prober{
		client:   client{dial: options.Dial, timeout: cmp.Or(options.Timeout, defaultTimeout)},
		interval: cmp.Or(options.Interval, defaultInterval), notify: options.Notify, log: options.Log,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](cmp.Or(options.FirstRetry, firstRetry), lastRetry)),
		limiter: rate.NewLimiter(perSecond, perSecond),
		servers: map[types.NamespacedName]*server{},
	}
}

// Ask gives what the server of this roll-out said, and has it asked when it was
// not yet. It does not wait.
func (p *Prober) Ask(target Target) Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[target.Stack]
	if !ok || known.target != target {
		p.servers[target.Stack] = &server{target: target}
		p.queue.Forget(target.Stack)
		p.queue.Add(target.Stack)
		return Answer{}
	}
	if known.resting {
		known.resting = false
		p.queue.AddAfter(target.Stack, p.pause(known))
	}
	return known.answer
}

// Rest lets a server alone until Ask is called for it: it has no pods that serve.
func (p *Prober) Rest(stack types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.servers[stack]; ok {
		known.resting = true
	}
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
	worker.Run(ctx, p.queue, workers, p.handle, p.notify)
	return nil
}

// handle asks the server of one stack; true when it said something new.
func (p *Prober) handle(ctx context.Context, stack types.NamespacedName) (news bool) {
	target, version, ok := p.due(stack)
	if !ok {
		return false
	}
	found := p.ask(ctx, target, version)
	return ctx.Err() == nil && p.conclude(target, found)
}

// ask asks a server, for its version only when that is not known. Without one it
// is not asked for anything else.
func (p *Prober) ask(ctx context.Context, target Target, version string) result {
	now := result{version: version}
	if now.version == "" {
		if now.err = p.limiter.Wait(ctx); now.err == nil {
			now.version, now.err = p.client.version(ctx, target)
		}
	}
	if now.err == nil {
		if now.err = p.limiter.Wait(ctx); now.err == nil {
			now.providers, now.err = p.client.providers(ctx, target)
		}
	}
	return now
}

// due is the server to ask now, if there still is one, and the version it told
// before.
func (p *Prober) due(stack types.NamespacedName) (Target, string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[stack]
	if !ok || known.done || known.resting {
		return Target{}, "", false
	}
	return known.target, known.answer.Version, true
}

// conclude notes the outcome of an attempt and when the next one is; true when
// there is news to tell. An answer of pods that are gone meanwhile is none.
func (p *Prober) conclude(target Target, now result) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[target.Stack]
	if !ok || known.target != target {
		return false // another roll-out is in the queue
	}
	news := known.update(now)
	if now.err != nil {
		p.log.V(1).Info("Server does not tell what it is", "stack", target.Stack.String(), "error", now.err.Error(), "again", !known.done)
	}
	switch {
	case known.done:
		p.queue.Forget(target.Stack)
	case known.answer.Concluded:
		p.queue.Forget(target.Stack)
		p.queue.AddAfter(target.Stack, p.pause(known))
	default:
		p.queue.AddRateLimited(target.Stack)
	}
	return news
}

// pause before a server is asked again: none for one that never answered, else
// longer and longer while it does not.
func (p *Prober) pause(known *server) time.Duration {
	if !known.answer.Concluded {
		return 0
	}
	return wait.Jitter(p.interval*time.Duration(min(1<<min(known.failed, 10), longest)), jitter)
}
