package controller

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	case transient(err):
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

// transient reports whether an error is temporary, because of a conflict, an outage, or a namespace that is being
// deleted.
func transient(err error) bool {
	if refusal.Denied(err) {
		return false
	}
	return unavailable(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) ||
		apierrors.HasStatusCause(err, namespaceTerminating)
}

// namespaceTerminating is the cause of an error if the namespace of the object is being deleted.
const namespaceTerminating metav1.CauseType = "NamespaceTerminating"

// unavailable reports whether a call failed because the API server is busy or unreachable, or because the context
// ended.
func unavailable(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		var unreachable interface{ Timeout() bool } // net.Error, url.Error
		return errors.As(err, &unreachable) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}
	if refusal.Denied(err) {
		return false
	}
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err)
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

// rejected reports whether the API server rejected an object with a client error, for example because of a quota, a
// policy, Pod Security, a webhook or an invalid field. It returns false for transient errors and for the status codes
// 401 and 404.
func rejected(err error) bool {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) || transient(err) {
		return false
	}
	code := answer.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError &&
		code != http.StatusUnauthorized && code != http.StatusNotFound
}
