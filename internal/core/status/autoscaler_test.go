package status_test

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

func TestAutoscalerTrouble(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	active := func(is corev1.ConditionStatus, reason, message string) []autoscalingv2.HorizontalPodAutoscalerCondition {
		return []autoscalingv2.HorizontalPodAutoscalerCondition{
			{Type: autoscalingv2.AbleToScale, Status: corev1.ConditionTrue, Reason: "ReadyForNewScale"},
			{
				Type: autoscalingv2.ScalingActive, Status: is, Reason: reason, Message: message,
				LastTransitionTime: metav1.NewTime(began),
			},
		}
	}
	for name, tc := range map[string]struct {
		conditions []autoscalingv2.HorizontalPodAutoscalerCondition
		want       string
	}{
		"nothing known": {},
		"it scales":     {conditions: active(corev1.ConditionTrue, "ValidMetricFound", "fine")},
		"no replicas":   {conditions: active(corev1.ConditionFalse, "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")},
		"not known yet": {conditions: active(corev1.ConditionUnknown, "x", "y")},
		"without metrics": {
			conditions: active(corev1.ConditionFalse, "FailedGetResourceMetric", "unable to get metrics for resource cpu: no metrics returned"),
			want:       `HorizontalPodAutoscaler "my-hpa" does not scale (FailedGetResourceMetric): unable to get metrics for resource cpu: no metrics returned`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			autoscaler := &autoscalingv2.HorizontalPodAutoscaler{}
			autoscaler.Name, autoscaler.Status.Conditions = "my-hpa", tc.conditions
			got, since := status.AutoscalerTrouble(autoscaler)
			if got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
			if told := tc.want != ""; since.Equal(began) != told {
				t.Errorf("since %v, want %v if reported: %t", since, began, told)
			}
		})
	}
}
