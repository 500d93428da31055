package probe

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

// Options configures a Prober.
type Options struct {
	// Locate finds the address of a server.
	Locate Locate
	// Refused lists addresses that no server can have, such as the address of the API server. Loopback and link-local
	// addresses are always refused.
	Refused []netip.Addr
	// Dial connects to the addresses of servers. Nil means the network.
	Dial Dial
	// Notify receives each stack whose answer has changed. It may block until ctx ends.
	Notify func(ctx context.Context, stack types.NamespacedName)
	// FirstRetry is the pause after the first failed attempt. The pause doubles with each attempt. Zero means 5 seconds.
	FirstRetry time.Duration
	// Interval is the pause between two health checks of providers. Zero means 5 minutes.
	Interval time.Duration
	// Timeout limits the duration of a request. The requests of one attempt together take at most twice as long. Zero
	// means 10 seconds.
	Timeout time.Duration
	// Log receives debug messages.
	Log logr.Logger
}

const (
	// attempts is the maximum number of failed attempts for one rollout. After that, the prober makes no further
	// attempt until the next rollout. The limit does not apply after a server has reported the health of its providers.
	attempts   = 5
	firstRetry = 5 * time.Second
	lastRetry  = 2 * time.Minute
	// workers is the number of concurrent workers, and perNamespace is the share of a namespace, because servers can be
	// slow on purpose. perSecond bounds the requests per second, because a new leader queries the servers of all stacks.
	// A request waits only for the requests of the other workers.
	workers      = 16
	perNamespace = 4
	perSecond    = 10
	// attemptTimeouts is the maximum duration of an attempt, as a multiple of the timeout of one request. A server that
	// sends every response slowly occupies a worker of its namespace no longer than that.
	attemptTimeouts = 2
	// defaultInterval results in one query every three seconds for 100 stacks. If a server does not respond, the pause
	// before its next query doubles with each failed attempt, up to the interval multiplied by longest. jitter spreads the
	// requests to different servers over time.
	defaultInterval = 5 * time.Minute
	longest         = 12
	jitter          = 0.2
)

// Prober requests the version, the providers, the models and the MCP servers of each stack's server. It is a
// manager.Runnable.
type Prober struct {
	client   client
	interval time.Duration
	notify   func(context.Context, types.NamespacedName)
	log      logr.Logger
	queue    *share.Queue[types.NamespacedName]
	retries  workqueue.TypedRateLimiter[types.NamespacedName]

	mu      sync.Mutex
	servers map[types.NamespacedName]*server
}

// New returns a Prober. It sends no request before Start.
func New(options Options) *Prober {
	if options.Dial == nil {
		options.Dial = new(net.Dialer).DialContext
	}
	return &Prober{
		client: client{
			locate: options.Locate, refused: options.Refused, dial: options.Dial,
			timeout: cmp.Or(options.Timeout, defaultTimeout), limiter: rate.NewLimiter(perSecond, perSecond),
		},
		interval: cmp.Or(options.Interval, defaultInterval), notify: options.Notify, log: options.Log,
		queue: share.NewQueue(workers, perNamespace, func(stack types.NamespacedName) string { return stack.Namespace }),
		retries: workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](
			cmp.Or(options.FirstRetry, firstRetry), lastRetry),
		servers: map[types.NamespacedName]*server{},
	}
}

// Ask returns the answer of the server in the target's rollout. If the target of the stack is new or has changed, Ask
// schedules the requests and returns an empty answer. Ask does not wait.
func (p *Prober) Ask(target Target) Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[target.Stack]
	if !ok || known.target != target {
		p.servers[target.Stack] = &server{target: target}
		p.retries.Forget(target.Stack)
		p.queue.Add(target.Stack)
		return Answer{}
	}
	if known.resting {
		known.resting = false
		p.queue.AddAfter(target.Stack, p.pause(known))
	}
	return known.answer
}

// Rest stops the requests to a server that has no serving pods, until Ask is called for this server.
func (p *Prober) Rest(stack types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, ok := p.servers[stack]; ok {
		known.resting = true
	}
}

// Forget drops the state of a deleted stack's server.
func (p *Prober) Forget(stack types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.servers, stack)
	p.retries.Forget(stack)
}

// Start sends requests until ctx ends.
func (p *Prober) Start(ctx context.Context) error {
	p.queue.Run(ctx, p.handle, p.notify)
	return nil
}

// handle queries the server of one stack. It returns true if the answer has changed.
func (p *Prober) handle(ctx context.Context, stack types.NamespacedName) (news bool) {
	target, known, ok := p.due(stack)
	if !ok {
		return false
	}
	found := result{}
	if err := share.Recovered(func() { found = p.ask(ctx, target, &known) }); err != nil {
		p.log.Error(err, "The queries to a server panicked", "stack", stack.String())
		found.err = &finalError{"the operator has a defect"}
	}
	return ctx.Err() == nil && p.conclude(target, found)
}

// ask requests the version, the providers, the models and the MCP servers of a server, in this order. It requests the
// version and the MCP servers only while they are unknown. It stops at the first request that fails, and when the time
// for all requests together is over.
func (p *Prober) ask(ctx context.Context, target Target, known *Answer) result {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeouts*p.client.timeout)
	defer cancel()
	now := result{version: known.Version}
	if now.version == "" {
		now.version, now.err = fetch(ctx, p.client, target, versionPath, maxVersion, parseVersion)
	}
	if now.err == nil {
		now.providers, now.err = fetch(ctx, p.client, target, providersPath, maxAnswer, parseProviders)
	}
	if now.err == nil {
		now.models, now.modelsErr = fetch(ctx, p.client, target, modelsPath, maxAnswer, parseModels)
	}
	if now.err == nil && now.modelsErr == nil && target.MCP && known.MCPServers == nil {
		now.mcpServers, now.mcpErr = p.client.mcpServers(ctx, target, now.version)
		if isFinal(now.mcpErr) {
			now.mcpServers = []v1alpha2.MCPServerStatus{}
		}
	}
	return now
}

// due returns the server to query now and its last answer. It returns false if the prober must not query the server
// now.
func (p *Prober) due(stack types.NamespacedName) (Target, Answer, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[stack]
	if !ok || known.done || known.resting {
		return Target{}, Answer{}, false
	}
	return known.target, known.answer, true
}

// conclude records the outcome of an attempt and schedules the next one. It returns true if the answer has changed and
// the prober therefore has to call notify. It ignores the outcome if the stack's target has changed since the request.
func (p *Prober) conclude(target Target, now result) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.servers[target.Stack]
	if !ok || known.target != target {
		return false // another rollout is in the queue
	}
	news := known.update(now)
	if err := cmp.Or(now.err, now.modelsErr, now.mcpErr); err != nil {
		p.log.V(1).Info("At least one of these is not available from the server: "+
			"its version, its providers, its models, its MCP servers",
			"stack", target.Stack.String(), "error", err.Error(), "again", !known.done)
	}
	switch {
	case known.done:
		p.retries.Forget(target.Stack)
	case known.answer.Concluded:
		p.retries.Forget(target.Stack)
		p.queue.AddAfter(target.Stack, p.pause(known))
	default:
		p.queue.AddAfter(target.Stack, p.retries.When(target.Stack))
	}
	return news
}

// pause returns the pause before the next requests to a server. The pause is zero until Answer.Concluded is true,
// because the queue itself delays the next attempt after a failed one. After that, the pause is about one interval. It
// doubles with each failed attempt, up to the interval multiplied by longest.
func (p *Prober) pause(known *server) time.Duration {
	if !known.answer.Concluded {
		return 0
	}
	return wait.Jitter(p.interval*time.Duration(min(1<<min(known.failed, 10), longest)), jitter)
}
