package planning

import (
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// Admit validates the spec again, because a stack may have been stored before a validation rule or the admission policy
// existed. A violation with which pods may already run does not stop the reconcile, but appears in the condition.
func Admit(stack *stack, report *report.Report) (decoded *intent.Intent, warnings []string, err error) {
	decoded, warnings, tolerated, errs := validate.Stored(stack)
	if len(errs) > 0 {
		return nil, nil, invalid(v1alpha2.ReasonInvalidSpec, intent.Messages(append(errs, tolerated...)))
	}
	message := "The spec is valid"
	if len(tolerated) > 0 {
		message = "The operator accepts the spec because it is stored, and would reject it in a new stack:\n" + intent.Messages(tolerated)
	}
	report.MarkTrue(v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid, message)
	for _, err := range tolerated {
		warnings = append(warnings, intent.Message(err))
	}
	return decoded, warnings, nil
}

func invalid(reason, message string) error {
	return &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: reason, Message: message, Retry: status.OnObjectChange,
	}
}
