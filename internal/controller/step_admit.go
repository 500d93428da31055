package controller

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// admit validates the spec again, because a stack may have been stored before a validation rule or the admission policy
// existed.
func admit(stack *stack, report *report) (*intent.Intent, error) {
	decoded, _, errs := validate.Spec(stack)
	if len(errs) > 0 {
		return nil, invalid(v1alpha2.ReasonInvalidSpec, intent.Messages(errs))
	}
	report.markTrue(v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid, "The spec is valid")
	return decoded, nil
}

func invalid(reason, message string) error {
	return &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: reason, Message: message, Retry: status.OnObjectChange,
	}
}
