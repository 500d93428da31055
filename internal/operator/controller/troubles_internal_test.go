package controller

import (
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestAutoscalerPatience checks that the operator waits three minutes after an autoscaler's first warning and after the
// pods began to serve requests, and that the stack is requeued when this wait ends.
func TestAutoscalerPatience(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }
	for name, tc := range map[string]struct {
		complains, served metav1.Time
		before            metav1.ConditionStatus
		told              bool
		after             time.Duration
	}{
		"no warning":             {metav1.Time{}, ago(time.Hour), metav1.ConditionTrue, false, 0},
		"both an hour ago":       {ago(time.Hour), ago(time.Hour), metav1.ConditionTrue, true, 0},
		"new warning":            {ago(time.Minute), ago(time.Hour), metav1.ConditionTrue, false, 2 * time.Minute},
		"serving for a minute":   {ago(time.Hour), ago(time.Minute), metav1.ConditionTrue, false, 2 * time.Minute},
		"serving from now on":    {ago(time.Hour), ago(time.Hour), metav1.ConditionFalse, false, 3 * time.Minute},
		"both three minutes ago": {ago(3 * time.Minute), ago(3 * time.Minute), metav1.ConditionTrue, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			autoscaler := &autoscalingv2.HorizontalPodAutoscaler{Status: autoscalingv2.HorizontalPodAutoscalerStatus{
				Conditions: []autoscalingv2.HorizontalPodAutoscalerCondition{{
					Type: autoscalingv2.ScalingActive, Status: "False", Reason: "FailedGetResourceMetric",
					LastTransitionTime: tc.complains,
				}},
			}}
			if tc.complains.IsZero() {
				autoscaler.Status.Conditions[0].Status = "True"
			}
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(autoscaler)
			testutil.Must(t, err)
			applied := &unstructured.Unstructured{Object: content}
			applied.SetKind("HorizontalPodAutoscaler")
			object := &v1alpha2.LlamaStackDistribution{}
			object.Status.Conditions = []metav1.Condition{{
				Type: v1alpha2.ConditionAvailable, Status: tc.before,
				LastTransitionTime: tc.served,
			}}
			s := &state{stack: object}
			s.applied.objects = []apply.Applied{{
				Kind:   autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
				Object: applied,
			}}
			s.report.MarkTrue(v1alpha2.ConditionAvailable, v1alpha2.ReasonMinimumReplicasAvailable, "")
			r := &Reconciler{now: func() time.Time { return now }, autoscalerPatience: defaultAutoscalerPatience}
			testutil.Must(t, r.reportAutoscaler(s))
			if got := meta.FindStatusCondition(s.report.Conditions, v1alpha2.ConditionDegraded) != nil; got != tc.told {
				t.Errorf("reported: %t, want %t", got, tc.told)
			}
			if got := s.report.RequeueAfter(now); got != tc.after {
				t.Errorf("requeued after %v, want %v", got, tc.after)
			}
		})
	}
}

// TestFailureOfARunningObject checks which failures of a running stack mean that the base configuration can no longer
// be read.
func TestFailureOfARunningObject(t *testing.T) {
	given := &v1alpha2.BaseConfigSource{ConfigMapName: "base"}
	validation := func(reason string) status.Failure {
		return status.Failure{Condition: v1alpha2.ConditionValidationSucceeded, Reason: reason}
	}
	for name, tc := range map[string]struct {
		failure  status.Failure
		given    *v1alpha2.BaseConfigSource
		contents map[string]map[string][]byte
		want     bool
	}{
		"the configuration of the image": {status.Failure{
			Condition: v1alpha2.ConditionConfigGenerated,
			Reason:    v1alpha2.ReasonBaseConfigUnavailable,
		}, nil, nil, true},
		"the ConfigMap": {
			validation(v1alpha2.ReasonConfigMapNotFound), given, map[string]map[string][]byte{}, true,
		},
		"the key of the ConfigMap":     {validation(v1alpha2.ReasonConfigMapKeyMissing), given, map[string]map[string][]byte{"base": {"x": nil}}, true},
		"another ConfigMap":            {validation(v1alpha2.ReasonConfigMapNotFound), given, map[string]map[string][]byte{"base": {"config.yaml": nil}}, false},
		"the ConfigMaps were not read": {validation(v1alpha2.ReasonInvalidSpec), given, nil, false},
		"the spec refers to no ConfigMap": {
			validation(v1alpha2.ReasonConfigMapNotFound), nil, map[string]map[string][]byte{}, false,
		},
		"a rejection of the API server": {
			status.Failure{Condition: v1alpha2.ConditionDeploymentUpdated},
			given,
			map[string]map[string][]byte{},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			object := &v1alpha2.LlamaStackDistribution{}
			object.Spec.BaseConfig = tc.given
			s := &state{stack: object}
			s.configMaps.Contents = tc.contents
			if got := s.lacksBase(&tc.failure); got != tc.want {
				t.Errorf("%t, want %t", got, tc.want)
			}
		})
	}
}
