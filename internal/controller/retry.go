package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

const (
	firstRetry = 200 * time.Millisecond
	// However long the API server refused: a stack goes on within a minute after that.
	lastRetry = 45 * time.Second
	// One that did not answer at all was asked for nothing that could trouble it.
	lastUnansweredRetry = 5 * time.Second
	// retryJitter is by how much a pause may be longer, so that stacks do not come back all at once.
	retryJitter = 0.5
)

// retries count the attempts of stacks whose failure passes by itself.
type retries struct {
	// unanswered are those that got no answer from the API server, quiet all others.
	unanswered, quiet workqueue.TypedRateLimiter[reconcile.Request]
}

func newRetries() retries {
	type limiter = workqueue.TypedRateLimiter[reconcile.Request]
	exponential := func(last time.Duration) limiter {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, last)
	}
	return retries{unanswered: exponential(lastUnansweredRetry), quiet: exponential(lastRetry)}
}

// pause is the time until the next attempt after such a failure, of a step or of the write of the status. Zero: it is none.
func (r retries) pause(request reconcile.Request, failure *status.Failure, err error) time.Duration {
	quiet := failure != nil && failure.Retry == status.Quiet
	if unavailable(err) || quiet && unavailable(failure) {
		return wait.Jitter(r.unanswered.When(request), retryJitter)
	}
	r.unanswered.Forget(request)
	if quiet && err == nil {
		return r.quiet.When(request)
	}
	r.quiet.Forget(request)
	return 0
}

func (r retries) forget(request reconcile.Request) {
	r.unanswered.Forget(request)
	r.quiet.Forget(request)
}
