package status

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// scalingDisabled is the reason that an autoscaler sets while its target is deliberately scaled to zero replicas.
const scalingDisabled = "ScalingDisabled"

// AutoscalerTrouble returns a message, with the autoscaler's own explanation, for an autoscaler that does not scale. It
// also returns the time at which the autoscaler stopped scaling. The message is empty if the autoscaler scales, has not
// reported its state yet, or does not scale because its target is deliberately scaled to zero replicas.
func AutoscalerTrouble(autoscaler *autoscalingv2.HorizontalPodAutoscaler) (message string, since time.Time) {
	for _, condition := range autoscaler.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingActive && condition.Status == corev1.ConditionFalse &&
			condition.Reason != scalingDisabled {
			message = fmt.Sprintf("HorizontalPodAutoscaler %q does not scale (%s): %s", autoscaler.Name, condition.Reason, takenOver(condition.Message))
			return message, condition.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}
