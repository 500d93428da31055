package controller

import (
	"errors"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/refusal"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// classify converts any error to a Failure. It returns a Failure unchanged. For any other error, it determines the
// reason and the time of the next attempt.
func classify(err error, condition string) *status.Failure {
	var failure *status.Failure
	switch {
	case errors.As(err, &failure):
		return failure
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
