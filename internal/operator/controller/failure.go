package controller

import (
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// classify converts any error to a Failure. It returns a Failure unchanged. For any other error, it determines the
// reason and the time of the next attempt.
func classify(err error, condition string) *status.Failure {
	var failure *status.Failure
	var large *stub.TooLargeError
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.As(err, &large):
		// A tenant who keeps the child large must not cause more reads of it. A change to the child requeues the stack.
		return &status.Failure{
			Condition: condition, Reason: v1alpha2.ReasonDeploymentUpdateFailed, Message: large.Error(),
			Retry: status.OnReferenceChange, Err: err,
		}
	case refusal.Transient(err):
		return &status.Failure{
			Condition: condition, Reason: v1alpha2.ReasonProgressing, Message: err.Error(),
			Retry: status.Quiet, Err: err,
		}
	default:
		reason := v1alpha2.ReasonInternalError
		if condition == v1alpha2.ConditionDeploymentUpdated {
			reason = v1alpha2.ReasonDeploymentUpdateFailed
		}
		failure := &status.Failure{
			Condition: condition, Reason: reason, Message: withRemedy(err), Retry: status.Backoff, Err: err,
		}
		if refusal.Invalid(err) {
			failure.Retry, failure.Message = status.Invalid, refusal.WithoutValues(failure.Message)
		}
		return failure
	}
}

// maxRefusal is the maximum length, in bytes, of an API server error in the status. The error contains every invalid
// value, and several conditions repeat the error.
const maxRefusal = 4 << 10

// withRemedy returns the API server's message. If a webhook could not be called, or the operator lacks a permission,
// withRemedy adds a remedy, because the message does not contain one.
func withRemedy(err error) string {
	message := status.Shorten(err.Error(), maxRefusal)
	switch {
	case refusal.LacksPermission(err):
		message += "; the operator's roles differ from those in its release: ask an administrator to install the operator's manifest or chart again"
	case strings.Contains(message, "failed calling webhook"):
		message += "; the webhook does not belong to the operator: ask the administrator of the webhook to make the webhook available or to remove the webhook configuration"
	}
	return message
}

const (
	firstRetry = 200 * time.Millisecond
	// lastRetry is the longest pause between two attempts with growing delays. It lets a stack continue within a minute
	// after the API server accepts the operator's calls again.
	lastRetry = 45 * time.Second
	// lastUnansweredRetry bounds the pause, before retryJitter extends it, if the API server did not respond. A call
	// without a response causes no load.
	lastUnansweredRetry = 5 * time.Second
	// retryJitter is the largest fraction by which a pause is extended if the API server did not respond. It spreads the
	// retries of different stacks.
	retryJitter = 0.5
)

// retries counts the attempts for stacks with failures that may be resolved without a change to an object.
type retries struct {
	// unanswered is the limiter for attempts after calls without a response. The field `quiet` is the limiter for attempts
	// after other quiet failures.
	unanswered, quiet workqueue.TypedRateLimiter[reconcile.Request]
}

func newRetries() retries {
	type limiter = workqueue.TypedRateLimiter[reconcile.Request]
	exponential := func(last time.Duration) limiter {
		return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, last)
	}
	return retries{unanswered: exponential(lastUnansweredRetry), quiet: exponential(lastRetry)}
}

// pause returns the time until the next attempt after a quiet failure of a step, or after a status write that received
// no response. Zero means that there is no such failure.
func (r retries) pause(request reconcile.Request, failure *status.Failure, err error) time.Duration {
	quiet := failure != nil && failure.Retry == status.Quiet
	if refusal.Unavailable(err) || quiet && refusal.Unavailable(failure) {
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
