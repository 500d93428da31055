package informer

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	return toolscache.NewSharedIndexInformer(untilAnswered(calls, reconnect), object, resync, indexers)
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
