package certificate

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/informer"
)

// longestPause is for a clock that is set while the operator waits.
const longestPause = 12 * time.Hour

// signal makes a loop look again. A signal that is sent while the loop looks makes it look once more.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default: // one is waiting already
	}
}

// loop calls look at once, when changed is sent, and when the pause that look returned is over, until ctx ends.
func loop(ctx context.Context, clock clock.Clock, changed signal, look func(context.Context) time.Duration) {
	for ctx.Err() == nil {
		timer := clock.NewTimer(min(look(ctx), longestPause))
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// watchOne sends changed whenever one object may have changed, until ctx ends. It sees metadata only: the loop reads the
// object, so that it never acts on what a cache has not heard yet, and no key stays in memory.
func watchOne(ctx context.Context, calls metadata.Interface, of schema.GroupVersionResource, namespace, name string, changed signal) {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	resource := calls.Resource(of).Namespace(namespace)
	watches := informer.New(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = selector
			return resource.Watch(ctx, options)
		},
	}, calls), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	_ = watches.SetTransform(func(any) (any, error) { // errors of these three: it runs already
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, nil
	})
	// The loop that reads the object tells what is wrong.
	_ = watches.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		log.FromContext(ctx).V(1).Info("Cannot watch; trying again", "resource", of.Resource, "name", name, "error", err.Error())
	})
	_, _ = watches.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { changed.send() },
		UpdateFunc: func(any, any) { changed.send() },
		DeleteFunc: func(any) { changed.send() },
	})
	watches.RunWithContext(ctx)
}
