package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
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

// unanswered counts the attempts of stacks that got no answer from the API server.
type unanswered struct {
	limiter workqueue.TypedRateLimiter[reconcile.Request]
}

func newUnanswered() unanswered {
	return unanswered{workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastUnansweredRetry)}
}

// pause is the time until the next attempt of a stack whose steps or whose status
// the API server did not answer; zero: it did.
func (u unanswered) pause(request reconcile.Request, failure *status.Failure, err error) time.Duration {
	quiet := failure != nil && failure.Retry == status.Quiet && away(failure)
	if !quiet && !away(err) {
		u.limiter.Forget(request)
		return 0
	}
	return wait.Jitter(u.limiter.When(request), retryJitter)
}

// classify makes a Failure of any error: those of the API server by what they
// mean for the next attempt.
func classify(err error, condition string) *status.Failure {
	var failure *status.Failure
	switch {
	case errors.As(err, &failure):
		return failure
	case passing(err):
		return &status.Failure{Condition: condition, Reason: v1alpha2.ReasonProgressing, Message: err.Error(), Retry: status.Quiet, Err: err}
	default:
		reason := v1alpha2.ReasonInternalError
		if condition == v1alpha2.ConditionDeploymentUpdated {
			reason = v1alpha2.ReasonDeploymentUpdateFailed
		}
		retry := status.Backoff
		if fieldsInvalid(err) {
			retry = status.Invalid
		}
		return &status.Failure{Condition: condition, Reason: reason, Message: withRemedy(err), Retry: retry, Err: err}
	}
}

// passing says that the same call will most likely succeed in a moment: the
// object changed meanwhile, the API server is busy or not reached at all.
func passing(err error) bool {
	if denied(err) {
		return false
	}
	return away(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, namespaceTerminating)
}

// namespaceTerminating is the cause of a refusal that ends with the namespace.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// away says that the API server did not look at the call: it is busy or not
// reached at all.
func away(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		var unreachable interface{ Timeout() bool } // net.Error, url.Error
		return errors.As(err, &unreachable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}
	if denied(err) {
		return false
	}
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err)
}

// denied says that an admission webhook refused the object. It answers with what
// code it likes, a conflict's too, and does so again.
func denied(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return false
	}
	message := answer.Status().Message
	return strings.HasPrefix(message, "admission webhook ") && strings.Contains(message, " denied the request")
}

// fieldsInvalid reports whether the API server's own rules refuse the fields of an object, and nothing else is wrong with
// others. Somebody's policy may answer with the same code; whoever made it may change it at any time.
func fieldsInvalid(err error) bool {
	type several interface {
		error
		Unwrap() []error
	}
	if all, are := errors.AsType[several](err); are {
		return !slices.ContainsFunc(all.Unwrap(), func(one error) bool { return !fieldsInvalid(one) })
	}
	answer, is := errors.AsType[*apierrors.StatusError](err)
	if !is || !apierrors.IsInvalid(answer) || answer.ErrStatus.Details == nil || strings.Contains(err.Error(), "denied request") {
		return false
	}
	return slices.ContainsFunc(answer.ErrStatus.Details.Causes, func(cause metav1.StatusCause) bool { return cause.Field != "" })
}

// maxRefusal is the most bytes of an error of the API server that status shows: it names every value that is wrong, and
// several conditions repeat it.
const maxRefusal = 4 << 10

// withRemedy is what the API server said, with what helps where it does not say.
func withRemedy(err error) string {
	message := status.Shorten(err.Error(), maxRefusal)
	if strings.Contains(message, "failed calling webhook") {
		message += "; that webhook is not the operator's: whoever runs it has to make it answer, or remove its configuration"
	}
	return message
}
