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

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry/mirror"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// Target is an image to read for a stack.
type Target struct {
	// Stack is the stack that needs the image.
	Stack types.NamespacedName
	// Image is the name of the image as written in the stack.
	Image string
	// Credentials identifies the pull Secrets, in the form that PoolOptions.Credentials expects. A target with a different
	// value is a different target.
	Credentials string
}

// PoolOptions configures a Pool.
type PoolOptions struct {
	// Credentials returns the credentials that the kubelet would use for a target, in the given repositories.
	Credentials func(ctx context.Context, target Target, repositories []string) (authn.Keychain, error)
	// Notify receives each stack for which the result of Read, ReadProviders or Watch has changed. It may block until ctx
	// ends.
	Notify func(ctx context.Context, stack types.NamespacedName)
	// FirstRetry is the pause after the first failed attempt. The pause doubles with each attempt, up to ten minutes. If
	// the registry requests a longer pause, that pause is used, up to an hour. The pool lengthens each pause by a random
	// amount of up to a quarter. Zero means 30 seconds.
	FirstRetry time.Duration
	// LookAgain is the pause before the pool checks again whether a tag refers to another image, unless
	// Options.CheckInterval is set. All stacks that wait for one tag share the request. Zero means an hour.
	LookAgain time.Duration
	// Fresh is the maximum age of a tag's digest for a stack that needs the digest for the first time. Zero means a
	// minute.
	Fresh time.Duration
	// ProvidersTime bounds the time to read the images of one stack's external providers. Zero means a minute.
	ProvidersTime time.Duration
	// Log receives debug messages.
	Log logr.Logger
}

const (
	firstRetry = 30 * time.Second
	lastRetry  = 10 * time.Minute
	// These are the limits of concurrent reads: in total, from one registry, for one namespace, and from one registry for
	// one namespace. Slow reads for one namespace do not block the reads for other namespaces.
	readers                 = 16
	perRegistry             = 4
	perNamespace            = 4
	perRegistryAndNamespace = 2
	lookAgain               = time.Hour
	fresh                   = time.Minute
	providersTime           = time.Minute
	// busy is the pause before another attempt at a task whose registry or namespace had no free share. If more than
	// busyTogether tasks for the namespace are waiting, their pauses are longer (see pauseTogether).
	busy         = 50 * time.Millisecond
	busyTogether = 16
)

// Outcome is the result of reading an image.
type Outcome struct {
	// Image is the image that was read. It is nil if the image was not read. Err is then the reason.
	Image *Image
	Err   error
	// asked is the time of the registry's answer.
	asked time.Time
}

// Pool reads images outside the reconcile path, a few at a time. It is a Runnable of the manager.
type Pool struct {
	options PoolOptions
	queue   *share.Queue[key]

	mu        sync.Mutex
	reader    *Reader
	current   Options
	waiting   map[types.NamespacedName]*task
	providers map[types.NamespacedName]*providersTask
	tags      map[types.NamespacedName]*tagTask
	inUse     map[limit]int
	busy      map[string]int   // number of tasks that wait for their share, by namespace
	kept      map[string]*kept // by namespace
}

// key identifies a task in the queue.
type key struct {
	stack types.NamespacedName
	kind  kind
}

// kind is the kind of work that a task does for a stack.
type kind int

const (
	// readServer reads the image of the server.
	readServer kind = iota
	// readProviders reads the images of the external providers.
	readProviders
	// compareTag checks which digest the tag of the server's image refers to.
	compareTag
)

// limit identifies a limit of concurrent reads: for a registry, or for a registry and a namespace.
type limit struct{ registry, namespace string }

func namespaceOf(of key) string { return of.stack.Namespace }

type task struct {
	part
	target   Target
	outcome  Outcome
	attempts int
}

// NewPool returns a pool. It reads nothing before Start.
func NewPool(options PoolOptions) *Pool {
	options.FirstRetry = cmp.Or(options.FirstRetry, firstRetry)
	options.LookAgain = cmp.Or(options.LookAgain, lookAgain)
	options.Fresh = cmp.Or(options.Fresh, fresh)
	options.ProvidersTime = cmp.Or(options.ProvidersTime, providersTime)
	return &Pool{
		options: options, queue: share.NewQueue(readers, perNamespace, namespaceOf), reader: New(Options{}),
		waiting: map[types.NamespacedName]*task{}, providers: map[types.NamespacedName]*providersTask{},
		tags: map[types.NamespacedName]*tagTask{}, inUse: map[limit]int{},
		busy: map[string]int{}, kept: map[string]*kept{},
	}
}

// Configure sets which registries the pool may read, and how. After a change, the pool immediately retries every failed
// read.
func (p *Pool) Configure(options Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	options.Mirrors = p.current.Mirrors
	p.configure(options)
}

// Mirror replaces the pool's mirrors with those in the cluster's mirror sets. After a change, the pool immediately
// retries every failed read.
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

// Read returns the last outcome for a target's image. It returns false until an attempt ends, or if the content was
// dropped to make room for other stacks in the namespace. It does not wait: the first call starts to read the image.
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

// Forget drops the server image of a stack that is deleted, or whose server image no longer needs to be read.
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

// Start reads images until ctx ends.
func (p *Pool) Start(ctx context.Context) error {
	p.queue.Run(ctx, p.handle, func(ctx context.Context, of key) { p.options.Notify(ctx, of.stack) })
	return nil
}

// handle performs one task for a stack. It reports whether the stack must be notified.
func (p *Pool) handle(ctx context.Context, of key) (news bool) {
	ctx = forNamespace(ctx, of.stack.Namespace)
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

// begin takes a share of the pool for a stack's image. It returns a nil reader if there is nothing to read, or if no
// share is free.
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

// old returns the ages up to which a stack can reuse the registry's shared answers. The ages depend on the outcome of
// the previous attempt for the stack. With these ages, the registry receives no more requests for an image that many
// stacks use than for an image that only one stack uses.
func (p *Pool) old(before Outcome) ages {
	switch {
	case before.Image != nil || Lasting(before.Err):
		return ages{known: p.lookAgain(), failed: p.lookAgain(), patient: true}
	case before.Err != nil:
		return ages{known: p.options.Fresh, failed: p.options.FirstRetry / 3, patient: true}
	default: // the first attempt for a stack reuses the error of another stack only while the registry asks for a pause
		return ages{known: p.options.Fresh, patient: true}
	}
}

// take takes a share of the pool for an image, in addition to the share of the namespace, which the queue keeps. If a
// limit is reached for the registry, or for the registry and the namespace together, it returns false and puts the task
// back into the queue.
func (p *Pool) take(task *part, of key, image string) (release func(), ok bool) {
	registry := registryOf(image)
	limits := map[limit]int{
		{registry: registry}: perRegistry,
		{registry: registry, namespace: of.stack.Namespace}: perRegistryAndNamespace,
	}
	for limit, most := range limits {
		if p.inUse[limit] >= most {
			p.setBusy(task, true)
			p.queue.AddAfter(of, pauseTogether(p.busy[of.stack.Namespace]))
			return nil, false
		}
	}
	p.setBusy(task, false)
	for limit := range limits {
		p.inUse[limit]++
	}
	return func() { p.giveBack(limits) }, true
}

// giveBack returns shares that a task no longer uses.
func (p *Pool) giveBack(limits map[limit]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for limit := range limits {
		if p.inUse[limit]--; p.inUse[limit] == 0 {
			delete(p.inUse, limit)
		}
	}
}

func registryOf(image string) string {
	ref, err := name.ParseReference(image)
	if err != nil {
		return ""
	}
	return imagename.Registry(ref.Context().RegistryStr())
}

func (p *Pool) read(ctx context.Context, reader *Reader, target Target, old ages) Outcome {
	credentials, err := p.options.Credentials(ctx, target, reader.repositories(target.Image))
	if err != nil {
		return Outcome{Err: err}
	}
	read := reader.readAs(ctx, target.Image, credentials, false, old)
	return Outcome{Image: read.image, Err: read.err, asked: read.asked}
}

// conclude records the outcome of an attempt. It reports whether the stack must be notified. If there is no
// configuration, it schedules another attempt. It does so even if the registry refused the read, because a user can fix
// the cause and the operator receives no notification.
func (p *Pool) conclude(target Target, outcome Outcome) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	task, ok := p.waiting[target.Stack]
	if !ok || task.target != target {
		return false // a different image is in the queue
	}
	if outcome.Err != nil && task.outcome.Image != nil {
		outcome.Image, outcome.Err = task.outcome.Image, nil // the last content remains valid
	}
	news := !reflect.DeepEqual(task.outcome.Image, outcome.Image) || message(task.outcome.Err) != message(outcome.Err)
	p.unkeep(task)
	task.outcome = outcome
	p.keep(task)
	if outcome.Image == nil || outcome.Image.Config == nil {
		p.queue.AddAfter(key{stack: target.Stack}, p.pause(outcome, task.attempts))
	}
	if outcome.Err != nil {
		p.options.Log.V(1).Info("The operator cannot read the image", "stack", target.Stack.String(), "image", target.Image,
			"error", outcome.Err.Error())
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

// lookAgain returns the pause before the pool checks again which digest a tag refers to.
func (p *Pool) lookAgain() time.Duration { return cmp.Or(p.current.CheckInterval, p.options.LookAgain) }

// pause returns the pause before another attempt. After a successful read or a lasting failure, all stacks that share
// the registry's answer have their next attempt at the same time.
func (p *Pool) pause(after Outcome, attempts int) time.Duration {
	if after.Image != nil || Lasting(after.Err) {
		if after.asked.IsZero() {
			return p.lookAgain()
		}
		return max(p.lookAgain()-time.Since(after.asked), 0)
	}
	pause := max(min(p.options.FirstRetry<<min(attempts, 10), lastRetry), wantedPause(after.Err))
	return pause + rand.N(pause/4+1) //nolint:gosec // it spreads attempts, which needs no secure random numbers
}
