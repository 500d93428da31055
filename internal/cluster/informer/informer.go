package informer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// reconnect is the backoff between attempts to reach an unavailable API server. The pauses start at about one second
// and grow to between five and ten seconds.
var reconnect = wait.Backoff{
	Duration: 800 * time.Millisecond, Factor: 2, Cap: 5 * time.Second, Steps: math.MaxInt32,
	Jitter: 1,
}

// New returns an informer that reconnects soon after an unavailable API server recovers. client-go's backoff grows to a
// minute, and can be set for a Reflector but not for an informer (kubernetes/kubernetes#136943). In this informer,
// client-go's backoff does not grow, because each call blocks until the API server responds.
func New(
	calls toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	p := &pages{made: toolscache.ToListerWatcherWithContext(untilAnswered(calls, reconnect))}
	return reducing{toolscache.NewSharedIndexInformer(p.lister(calls), object, resync, indexers), p}
}

// pageSize is the number of objects in a page of a list.
const pageSize = 50

// pages lists objects page by page, and transforms each page before it requests the next one. The objects of all
// tenants together can be larger than the operator's memory. client-go would request them all at once from an API
// server without streaming lists.
type pages struct {
	made      toolscache.ListerWatcherWithContext
	transform atomic.Pointer[toolscache.TransformFunc]
}

// reducing passes its transform function on to the lists.
type reducing struct {
	toolscache.SharedIndexInformer

	pages *pages
}

// SetTransform sets the function that transforms each object, in a list twice.
func (r reducing) SetTransform(transform toolscache.TransformFunc) error {
	r.pages.transform.Store(&transform)
	return r.SharedIndexInformer.SetTransform(transform)
}

func (p *pages) lister(calls toolscache.ListerWatcher) toolscache.ListerWatcher {
	return toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc:  p.list,
		WatchFuncWithContext: p.made.WatchWithContext,
	}, calls)
}

func (p *pages) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	// An API server ignores the size of a page if any resource version is sufficient.
	options.Limit, options.ResourceVersion, options.ResourceVersionMatch = pageSize, "", ""
	var items []runtime.Object
	for {
		page, err := p.made.ListWithContext(ctx, options)
		if err != nil {
			return nil, err
		}
		// A copy of each object does not keep the others of its page in memory.
		err = meta.EachListItemWithAlloc(page, func(item runtime.Object) error {
			reduced, err := p.reduce(item)
			items = append(items, reduced)
			return err
		})
		if err != nil {
			return nil, err
		}
		about, err := meta.ListAccessor(page)
		if err != nil {
			return nil, err
		}
		if options.Continue = about.GetContinue(); options.Continue == "" {
			return page, meta.SetList(page, items)
		}
	}
}

func (p *pages) reduce(item runtime.Object) (runtime.Object, error) {
	transform := p.transform.Load()
	if transform == nil {
		return item, nil
	}
	reduced, err := (*transform)(item)
	if err != nil {
		return nil, err
	}
	object, ok := reduced.(runtime.Object)
	if !ok {
		return nil, fmt.Errorf("the transform function returned a %T", reduced)
	}
	return object, nil
}

// untilAnswered wraps calls, so that each call is retried with the backoff until the API server responds.
func untilAnswered(calls toolscache.ListerWatcher, pauses wait.Backoff) toolscache.ListerWatcher {
	made := toolscache.ToListerWatcherWithContext(calls)
	return toolscache.ToListWatcherWithWatchListSemantics(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return Answered(ctx, pauses, func() (runtime.Object, error) { return made.ListWithContext(ctx, options) })
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return Answered(ctx, pauses, func() (watch.Interface, error) { return made.WatchWithContext(ctx, options) })
		},
	}, calls)
}

// Answered retries `call` until the API server responds or ctx ends, and returns the last result.
func Answered[T any](ctx context.Context, pauses wait.Backoff, call func() (T, error)) (T, error) {
	delay := pauses.DelayFunc()
	for first := true; ; first = false {
		answer, err := call()
		if !Unavailable(err) {
			return answer, err
		}
		if first && ctx.Err() == nil {
			klog.FromContext(ctx).Info("The API server is not responding; retrying until it responds", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(delay()):
		}
	}
}

// Unavailable reports whether err means that the API server could not be reached, or that it or a proxy in front of it
// could not handle the call. It returns false for an error about a resource version that the API server has not reached
// yet, because informers handle this error.
func Unavailable(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		var unreached *url.Error
		return errors.As(err, &unreached)
	}
	code := answer.Status().Code
	return (code >= http.StatusInternalServerError || code == http.StatusTooManyRequests) &&
		!apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}
