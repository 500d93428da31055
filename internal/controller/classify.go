package controller

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// classify makes a Failure of any error: those of the API server by what they
// mean for the next attempt.
func classify(err error, condition string) *status.Failure {
	var failure *status.Failure
	switch {
	case errors.As(err, &failure):
		return failure
	case transient(err):
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

// transient reports whether the same call will most likely succeed in a moment: the
// object changed meanwhile, the API server is busy or not reached at all.
func transient(err error) bool {
	if denied(err) {
		return false
	}
	return unavailable(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, namespaceTerminating)
}

// namespaceTerminating is the cause of a refusal that ends with the namespace.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// unavailable reports whether the API server did not look at the call: it is busy or not
// reached at all.
func unavailable(err error) bool {
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

// denied reports whether an admission webhook refused the object. It answers with what
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

// rejected reports whether the API server does not let an object in: a quota, a policy,
// Pod Security, a webhook, whatever code that answers with.
func rejected(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) || transient(err) {
		return false
	}
	code := answer.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError &&
		code != http.StatusUnauthorized && code != http.StatusNotFound
}
