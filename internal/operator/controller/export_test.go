package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

// NewDirect returns a reconciler without a manager. The reconciler has no watches, and reads without caches. Tests call
// its method Reconcile. Its workers do nothing before StartWorkers is called.
func NewDirect(ctx context.Context, recorder events.EventRecorder, options Options) (*Reconciler, error) {
	reader := directReader{Reader: options.Direct}
	options.Optional, options.OperatorConfig = reader, reader
	apis, err := newOptionalAPIs(ctx, options.Optional, options.Direct.RESTMapper())
	if err != nil {
		return nil, err
	}
	r := newReconciler(reader, recorder, options, apis)
	noRequeue := func(context.Context, types.NamespacedName) {}
	r.prober = probe.New(probe.Options{
		Locate: r.locate, Dial: options.DialServer, Interval: options.ProbeInterval, Notify: noRequeue,
	})
	r.pool = registry.NewPool(registry.PoolOptions{
		Credentials: r.pullCredentials, LookAgain: options.TagInterval, Notify: noRequeue,
	})
	return r, nil
}

// StartWorkers makes the reconciler query servers and read images until ctx ends, as an operator does. The results do
// not requeue stacks. The next reconcile uses them.
func StartWorkers(ctx context.Context, r *Reconciler) {
	for _, worker := range []manager.Runnable{r.prober, r.pool} {
		go func() { _ = worker.Start(ctx) }()
	}
}

// directReader replaces a cache. It emulates the cache's indexes, which the API server does not have.
type directReader struct {
	cache.Cache
	client.Reader
}

// Get reads without the cache.
func (d directReader) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	return d.Reader.Get(ctx, key, object, options...)
}

// List reads a list without the cache, and filters it by the emulated indexes.
func (d directReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	index := asked.FieldSelector
	asked.FieldSelector = nil
	if err := d.Reader.List(ctx, list, asked); err != nil || index == nil {
		return err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return err
	}
	found := items[:0]
	for _, item := range items {
		if object, ok := item.(client.Object); ok && d.indexed(index, object) {
			found = append(found, item)
		}
	}
	return meta.SetList(list, found)
}

// IndexField does nothing, because List calls the index functions directly.
func (directReader) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// indexed reports whether an object matches a selector of an emulated index.
func (directReader) indexed(index fields.Selector, object client.Object) bool {
	for field, values := range map[string]client.IndexerFunc{
		fieldHost: (&Reconciler{exposures: newExposures()}).hostsOf, fieldClaim: claimOf,
		fieldInstance: instanceOf,
	} {
		if want, asked := index.RequiresExactMatch(field); asked {
			return slices.Contains(values(object), want)
		}
	}
	return false
}
