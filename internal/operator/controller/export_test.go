package controller

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/observe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// NewDirect returns a reconciler without a manager. The reconciler has no watches, and reads without caches. Tests call
// its method Reconcile. Its workers do nothing before StartWorkers is called.
func NewDirect(ctx context.Context, recorder events.EventRecorder, options Options) (*Reconciler, error) {
	reader := testutil.NewUncached(options.Direct)
	options.Optional, options.OperatorConfig = reader, reader
	apis, err := caches.NewAPIs(ctx, options.Optional, options.Direct.RESTMapper(), nil)
	if err == nil {
		err = caches.AddIndexes(ctx, reader)
	}
	if err != nil {
		return nil, err
	}
	r := newReconciler(reader, recorder, options, apis)
	if err := r.stacks.Hosts.Index(reader).Start(ctx, nil); err != nil {
		return nil, err
	}
	noRequeue := func(context.Context, types.NamespacedName) {}
	r.observer = observe.New(r.cache, func() time.Time { return r.now() }, probe.Options{
		Dial: options.DialServer, Interval: options.ProbeInterval, Notify: noRequeue,
	})
	r.images = images.New(r.direct, r.configMaps.KeptBase, nil, registry.PoolOptions{
		LookAgain: options.TagInterval, Notify: noRequeue,
	})
	return r, nil
}

// StartWorkers makes the reconciler query servers and read images until ctx ends, as an operator does. The results do
// not requeue stacks. The next reconcile uses them.
func StartWorkers(ctx context.Context, r *Reconciler) {
	for _, worker := range []manager.Runnable{r.observer.Prober, r.images.Pool} {
		go func() { _ = worker.Start(ctx) }()
	}
}
