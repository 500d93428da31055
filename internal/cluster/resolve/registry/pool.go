package registry

import (
	"cmp"
	"context"
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

// Pool reads images outside the reconcile path, a few at a time. It is a Runnable of the manager.
type Pool struct {
	options PoolOptions
	queue   *share.Queue[key]

	mu      sync.Mutex
	reader  *Reader
	current Options
	tasks   map[key]*task
	inUse   map[limit]int
	busy    map[string]int            // number of tasks that wait for their share, by namespace
	waiting map[string]map[string]int // number of tasks that wait for their share, by registry and namespace
	kept    map[string]*kept          // by namespace
}

// key identifies a task.
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

// NewPool returns a pool. It reads nothing before Start.
func NewPool(options PoolOptions) *Pool {
	options.FirstRetry = cmp.Or(options.FirstRetry, firstRetry)
	options.LookAgain = cmp.Or(options.LookAgain, lookAgain)
	options.Fresh = cmp.Or(options.Fresh, fresh)
	options.ProvidersTime = cmp.Or(options.ProvidersTime, providersTime)
	return &Pool{
		options: options, queue: share.NewQueue(readers, perNamespace, namespaceOf), reader: New(Options{}),
		tasks: map[key]*task{}, inUse: map[limit]int{}, busy: map[string]int{},
		waiting: map[string]map[string]int{}, kept: map[string]*kept{},
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
	for of, task := range p.tasks {
		if task.failures == 0 {
			continue
		}
		task.failures = 0
		if of.kind == compareTag {
			task.failures = toldFailures - 1
		}
		p.queue.Add(of)
	}
}

// Start reads images until ctx ends.
func (p *Pool) Start(ctx context.Context) error {
	p.queue.Run(ctx, p.handle, func(ctx context.Context, of key) { p.options.Notify(ctx, of.stack) })
	return nil
}

// take takes a share of the pool for an image, in addition to the share of the namespace, which the queue keeps. If a
// limit is reached for the registry, or for the registry and the namespace together, or if it is another namespace's
// turn, it returns false and puts the task back into the queue.
func (p *Pool) take(task *task, image string) (release func(), ok bool) {
	registry := registryOf(image)
	limits := map[limit]int{
		{registry: registry}: perRegistry,
		{registry: registry, namespace: task.stack.Namespace}: perRegistryAndNamespace,
	}
	full := p.yields(registry, task.stack.Namespace)
	for limit, most := range limits {
		full = full || p.inUse[limit] >= most
	}
	if full {
		p.setBusy(task, registry)
		p.queue.AddAfter(task.key, pauseTogether(p.busy[task.stack.Namespace]))
		return nil, false
	}
	p.setBusy(task, "")
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
		add(p.inUse, limit, -1)
	}
}

func registryOf(image string) string {
	ref, err := name.ParseReference(image)
	if err != nil {
		return ""
	}
	return imagename.Registry(ref.Context().RegistryStr())
}
