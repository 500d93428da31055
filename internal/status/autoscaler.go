package status

import (
	"fmt"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// scalingDisabled is why an autoscaler rests while its target has no replicas, as was asked for.
const scalingDisabled = "ScalingDisabled"

// AutoscalerTrouble says why an autoscaler does not scale, in its own message, and since when; empty: it does, or nobody
// knows yet.
func AutoscalerTrouble(autoscaler *autoscalingv2.HorizontalPodAutoscaler) (message string, since time.Time) {
	for _, condition := range autoscaler.Status.Conditions {
		if condition.Type == autoscalingv2.ScalingActive && condition.Status == corev1.ConditionFalse && condition.Reason != scalingDisabled {
			message = fmt.Sprintf("HorizontalPodAutoscaler %q does not scale (%s): %s", autoscaler.Name, condition.Reason, takenOver(condition.Message))
			return message, condition.LastTransitionTime.Time
		}
	}
	return "", time.Time{}
}
