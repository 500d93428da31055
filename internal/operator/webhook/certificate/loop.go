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

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
)

// longestPause bounds each pause, because the clock can change while the operator waits.
const longestPause = 12 * time.Hour

// signal makes a loop call its function `look` one more time. It can be sent at any time, even during a call of `look`.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default: // a signal is already pending
	}
}

// loop calls the function `look` immediately, whenever the signal `changed` is sent, and after each pause that `look`
// returns, until ctx ends.
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

// watchOne sends the signal `changed` whenever one object may have changed, until ctx ends. It watches only metadata,
// so that no private key is cached. The loop reads the object from the API server, and therefore never acts on stale
// data.
func watchOne(
	ctx context.Context, calls metadata.Interface, of schema.GroupVersionResource, namespace, name string, changed signal,
) {
	one := only(calls.Resource(of).Namespace(namespace), name)
	watches := informer.New(cache.ToListWatcherWithWatchListSemantics(one, calls), &metav1.PartialObjectMetadata{}, 0,
		cache.Indexers{})
	// The next three methods return an error only if the informer has already started.
	_ = watches.SetTransform(func(any) (any, error) {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, nil
	})
	_ = watches.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		// This is a debug message, because the loop that reads the object reports the API server's errors.
		log.FromContext(ctx).V(1).Info("Cannot watch the object; trying again", "resource", of.Resource, "name", name,
			"error", err.Error())
	})
	_, _ = watches.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { changed.send() },
		UpdateFunc: func(any, any) { changed.send() },
		DeleteFunc: func(any) { changed.send() },
	})
	watches.RunWithContext(ctx)
}

// only, given a resource and a name, returns a ListWatch that is limited to the object with this name.
func only(resource metadata.ResourceInterface, name string) *cache.ListWatch {
	selector := fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = selector
			return resource.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = selector
			return resource.Watch(ctx, options)
		},
	}
}
