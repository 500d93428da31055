package certificate

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
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

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default: // a signal is already pending
	}
}

// worker keeps one object as it should be.
type worker struct {
	name    string
	watched metadata.ResourceInterface
	clock   clock.Clock
	report  *reporter
	writes  *rate.Limiter
	changed signal
}

func newWorker(watched metadata.ResourceInterface, name string, options Options, action string) worker {
	return worker{
		name: name, watched: watched, clock: options.Clock, report: newReporter(options, action),
		writes: rate.NewLimiter(rate.Every(writePause), writeBurst), changed: make(signal, 1),
	}
}

// run calls the function `look` immediately, whenever the signal `changed` is sent, and after each pause that `look`
// returns, until ctx ends.
func (w *worker) run(ctx context.Context, look func(context.Context) time.Duration) {
	var watch sync.WaitGroup
	defer watch.Wait()
	watch.Go(func() { w.watch(ctx) })
	for ctx.Err() == nil {
		timer := w.clock.NewTimer(min(look(ctx), longestPause))
		select {
		case <-ctx.Done():
		case <-w.changed:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// watch sends the signal `changed` whenever the object may have changed, until ctx ends. It watches only metadata, so
// that no private key is cached. The function `look` reads the object from the API server, and therefore never acts on
// stale data.
func (w *worker) watch(ctx context.Context) {
	watches := informer.New(only(w.watched, w.name), &metav1.PartialObjectMetadata{}, 0, cache.Indexers{})
	// The next three methods return an error only if the informer has already started.
	_ = watches.SetTransform(func(any) (any, error) {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: w.name}}, nil
	})
	_ = watches.SetWatchErrorHandlerWithContext(func(ctx context.Context, _ *cache.Reflector, err error) {
		// This is a debug message, because the loop that reads the object reports the API server's errors.
		log.FromContext(ctx).V(1).Info("Cannot watch the object; trying again", "name", w.name, "error", err.Error())
	})
	_, _ = watches.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.changed.send() },
		UpdateFunc: func(any, any) { w.changed.send() },
		DeleteFunc: func(any) { w.changed.send() },
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
