package registry

import (
	"cmp"
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/llamastack/llama-stack-k8s-operator/internal/imagename"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry/mirror"
	"github.com/llamastack/llama-stack-k8s-operator/internal/worker"
)

// Target is an image to read for a stack.
type Target struct {
	// Stack needs it.
	Stack types.NamespacedName
	// Image as it is written.
	Image string
	// Credentials name what the caller's Credentials function needs to know: the pull
	// Secrets, in whatever form, so that another set is another target.
	Credentials string
}

// PoolOptions of a Pool.
type PoolOptions struct {
	// Credentials gives those that the kubelet would use for a target.
	Credentials func(ctx context.Context, target Target) (authn.Keychain, error)
	// Notify is told of each stack whose image was read, or could not be. It may block
	// until ctx ends.
	Notify func(ctx context.Context, stack types.NamespacedName)
	// FirstRetry is the pause after a first attempt that failed; it doubles with each
	// up to ten minutes, is as long as the registry asks for up to an hour, and is spread by
	// a quarter. Zero: 30 seconds.
	FirstRetry time.Duration
	// LookAgain is the pause before the registry is asked whether a tag stands for another
	// image, unless Options say so. All who wait for one tag ask together. Zero: an hour.
	LookAgain time.Duration
	// Fresh is how old the digest of a tag may be for a stack that needs it first. Zero: a
	// minute.
	Fresh time.Duration
	// ProvidersTime bounds how long the images of the external providers of one stack are
	// read. Zero: a minute.
	ProvidersTime time.Duration
	// Log gets what only matters when somebody looks for it.
	Log logr.Logger
}

const (
	firstRetry = 30 * time.Second
	lastRetry  = 10 * time.Minute
	// Reads at once: in all, of one registry, for one namespace, and of one registry for
	// one namespace. A namespace whose reads are slow leaves the others their share.
	readers                 = 16
	perRegistry             = 4
	perNamespace            = 4
	perRegistryAndNamespace = 2
	lookAgain               = time.Hour
	fresh                   = time.Minute
	providersTime           = time.Minute
	// busy is the pause of a target whose registry or namespace has its share, as long as
	// busyTogether of its namespace wait at most: more of them look less often.
	busy         = 50 * time.Millisecond
	busyTogether = 16
)

// Outcome is what became of reading an image.
type Outcome struct {
	// Image is what was read. Nil as long as Err says why not.
	Image *Image
	Err   error
	// asked is when the registry said so.
	asked time.Time
}

// Pool reads images away from the reconcile path, a few at a time. It is a worker
// of the manager.
type Pool struct {
	options PoolOptions
	queue   workqueue.TypedDelayingInterface[key]

	mu        sync.Mutex
	reader    *Reader
	current   Options
	waiting   map[types.NamespacedName]*task
	providers map[types.NamespacedName]*providersTask
	tags      map[types.NamespacedName]*tagTask
	inUse     map[share]int
	busy      map[string]int   // tasks that wait for their share, by namespace
	kept      map[string]*kept // by namespace
}

// key is a task in the queue.
type key struct {
	stack types.NamespacedName
	kind  kind
}

// kind is what a task does for a stack.
type kind int

const (
	// readServer reads the image of the server.
	readServer kind = iota
	// readProviders reads the images of the external providers.
	readProviders
	// compareTag asks what the tag of the server's image stands for.
	compareTag
)

// share is a part of the reads at once: those of a registry, for a namespace, or both.
type share struct{ registry, namespace string }

type task struct {
	part
	target   Target
	outcome  Outcome
	attempts int
}

// NewPool makes a pool; it reads nothing before Start.
func NewPool(options PoolOptions) *Pool {
	options.FirstRetry = cmp.Or(options.FirstRetry, firstRetry)
	options.LookAgain = cmp.Or(options.LookAgain, lookAgain)
	options.Fresh = cmp.Or(options.Fresh, fresh)
	options.ProvidersTime = cmp.Or(options.ProvidersTime, providersTime)
	return &Pool{
		options: options, queue: workqueue.NewTypedDelayingQueue[key](), reader: New(Options{}),
		waiting: map[types.NamespacedName]*task{}, providers: map[types.NamespacedName]*providersTask{},
		tags: map[types.NamespacedName]*tagTask{}, inUse: map[share]int{},
		busy: map[string]int{}, kept: map[string]*kept{},
	}
}

// Configure sets which registries may be read, and how. After a change whatever
// could not be read is tried again at once.
func (p *Pool) Configure(options Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	options.Mirrors = p.current.Mirrors
	p.configure(options)
}

// Mirror sets the mirrors that mirror sets of the cluster name. What could not be read is tried again at once.
func (p *Pool) Mirror(mirrors mirror.Set) {
	p.mu.Lock()
	defer p.mu.Unlock()
	options := p.current
	options.Mirrors = mirrors
	p.configure(options)
}

func (p *Pool) configure(options Options) {
	if reflect.DeepEqual(options, p.current) {
		return
	}
	p.reader.Close()
	p.reader, p.current = New(options), options
	for stack, task := range p.waiting {
		if task.outcome.Err != nil {
			task.attempts = 0
			p.queue.Add(key{stack: stack})
		}
	}
	for stack, task := range p.providers {
		if task.failed() {
			task.attempts = 0
			p.queue.Add(key{stack: stack, kind: readProviders})
		}
	}
	for stack, task := range p.tags {
		if task.failures > 0 {
			task.failures = toldFailures - 1
			p.queue.Add(key{stack: stack, kind: compareTag})
		}
	}
}

// Read is what is known of a target's image; false as long as no attempt has ended, or
// when what was read had to make room for what other stacks of the namespace need. It
// does not wait: who asks first has it read.
func (p *Pool) Read(target Target) (Outcome, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known, ok := p.waiting[target.Stack]
	if ok && known.target == target && !known.dropped {
		return known.outcome, known.outcome != Outcome{}
	}
	p.forget(target.Stack)
	p.waiting[target.Stack] = &task{target: target, part: part{namespace: target.Stack.Namespace}}
	p.queue.Add(key{stack: target.Stack})
	return Outcome{}, false
}

// Forget drops the server's image of a stack that is gone, or needs nothing read any more.
func (p *Pool) Forget(stack types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(stack)
}

func (p *Pool) forget(stack types.NamespacedName) {
	task, ok := p.waiting[stack]
	if !ok {
		return
	}
	p.setBusy(&task.part, false)
	p.unkeep(task)
	delete(p.waiting, stack)
}

// Start reads until ctx ends.
func (p *Pool) Start(ctx context.Context) error {
	worker.Run(ctx, p.queue, readers, p.handle, func(ctx context.Context, of key) { p.options.Notify(ctx, of.stack) })
	return nil
}

// handle reads an image for one stack; true when there is news to tell.
func (p *Pool) handle(ctx context.Context, of key) (news bool) {
	switch of.kind {
	case readProviders:
		return p.handleProviders(ctx, of.stack)
	case compareTag:
		return p.handleTag(ctx, of.stack)
	case readServer:
	}
	target, reader, old, release := p.begin(of.stack)
	if reader == nil {
		return false
	}
	outcome := p.read(ctx, reader, target, old)
	release()
	return ctx.Err() == nil && p.conclude(target, outcome)
}

// begin takes a share of the pool for a stack's image. Without a reader there is
// nothing to read, or not now.
func (p *Pool) begin(stack types.NamespacedName) (Target, *Reader, ages, func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task, ok := p.waiting[stack]
	if !ok || task.dropped || (task.outcome.Image != nil && task.outcome.Image.Config != nil) {
		return Target{}, nil, ages{}, nil
	}
	release, ok := p.take(&task.part, key{stack: stack}, task.target.Image)
	if !ok {
		return Target{}, nil, ages{}, nil
	}
	return task.target, p.reader, p.old(task.outcome), release
}

// old is how old an answer may be after an outcome: as many stacks as want the same image, the registry is asked as often
// as for one of them.
func (p *Pool) old(before Outcome) ages {
	switch {
	case before.Image != nil || Lasting(before.Err):
		return ages{known: p.lookAgain(), failed: p.lookAgain(), patient: true}
	case before.Err != nil:
		return ages{known: p.options.Fresh, failed: p.options.FirstRetry / 3, patient: true}
	default: // whatever became of the attempts of others, this one has its own
		return ages{known: p.options.Fresh, patient: true}
	}
}

// take takes a share of the pool for an image. False: registry or namespace has its share, and the task is in the queue
// again.
func (p *Pool) take(task *part, of key, image string) (release func(), ok bool) {
	registry := registryOf(image)
	shares := map[share]int{
		{registry: registry}:                                perRegistry,
		{namespace: of.stack.Namespace}:                     perNamespace,
		{registry: registry, namespace: of.stack.Namespace}: perRegistryAndNamespace,
	}
	for share, most := range shares {
		if p.inUse[share] >= most {
			p.setBusy(task, true)
			p.queue.AddAfter(of, pauseTogether(p.busy[of.stack.Namespace]))
			return nil, false
		}
	}
	p.setBusy(task, false)
	for share := range shares {
		p.inUse[share]++
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for share := range shares {
			if p.inUse[share]--; p.inUse[share] == 0 {
				delete(p.inUse, share)
			}
		}
	}, true
}

func registryOf(image string) string {
	ref, err := name.ParseReference(image)
	if err != nil {
		return ""
	}
	return imagename.Registry(ref.Context().RegistryStr())
}

func (p *Pool) read(ctx context.Context, reader *Reader, target Target, old ages) Outcome {
	credentials, err := p.options.Credentials(ctx, target)
	if err != nil {
		return Outcome{Err: err}
	}
	read := reader.readAs(ctx, target.Image, credentials, false, old)
	return Outcome{Image: read.image, Err: read.err, asked: read.asked}
}

// conclude notes the outcome of an attempt; true when there is news to tell. What the
// registry refuses is tried again, too, though only a person can mend it: nobody tells
// us when that was done.
func (p *Pool) conclude(target Target, outcome Outcome) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	task, ok := p.waiting[target.Stack]
	if !ok || task.target != target {
		return false // another image is in the queue
	}
	if outcome.Err != nil && task.outcome.Image != nil {
		outcome.Image, outcome.Err = task.outcome.Image, nil // what was read stays true
	}
	news := !reflect.DeepEqual(task.outcome.Image, outcome.Image) || message(task.outcome.Err) != message(outcome.Err)
	p.unkeep(task)
	task.outcome = outcome
	p.keep(task)
	if outcome.Image == nil || outcome.Image.Config == nil {
		p.queue.AddAfter(key{stack: target.Stack}, p.pause(outcome, task.attempts))
	}
	if outcome.Err != nil {
		p.options.Log.V(1).Info("Image cannot be read", "stack", target.Stack.String(), "image", target.Image, "error", outcome.Err.Error())
	}
	task.attempts++
	return news
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// lookAgain is the pause before the registry is asked again what a tag stands for.
func (p *Pool) lookAgain() time.Duration { return cmp.Or(p.current.CheckInterval, p.options.LookAgain) }

// pause before another attempt. Those who look again at one answer do so at the same time.
func (p *Pool) pause(after Outcome, attempts int) time.Duration {
	if after.Image != nil || Lasting(after.Err) {
		if after.asked.IsZero() {
			return p.lookAgain()
		}
		return max(p.lookAgain()-time.Since(after.asked), 0)
	}
	pause := max(min(p.options.FirstRetry<<min(attempts, 10), lastRetry), wantedPause(after.Err))
	return pause + rand.N(pause/4+1) //nolint:gosec // it spreads attempts, and guards nothing
}
