package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// inProgress lists the reasons of Ready that require no action from the user except to wait.
var inProgress = []string{
	v1alpha2.ReasonRolloutInProgress, v1alpha2.ReasonPreflightInProgress, v1alpha2.ReasonReadingExternalProviders,
	v1alpha2.ReasonWaiting, v1alpha2.ReasonProgressing,
}

// InProgress reports whether the user only has to wait, because of the reason of Ready, or because the status of the
// condition that Ready depends on is still unknown, for example while the operator reads the labels of an image.
func InProgress(conditions []metav1.Condition, reason string) bool {
	cause := Cause(conditions)
	return slices.Contains(inProgress, reason) || cause != nil && cause.Status == metav1.ConditionUnknown
}
