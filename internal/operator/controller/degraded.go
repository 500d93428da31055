package controller

import (
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// defaultAutoscalerPatience is the time that the operator waits for an autoscaler's metrics before it reports a
// problem. New pods have metrics after a minute or two.
const defaultAutoscalerPatience = 3 * time.Minute

// reportLostReferences adds a condition if the pods keep values or a configuration that can no longer be read, or if
// their image cannot be compared with its tag. It ignores the references in a spec that the pods do not run yet.
func (s *state) reportLostReferences(failure *status.Failure) {
	if s.live().Deployment == nil {
		return
	}
	if failure == nil || s.runsEarlier(failure) {
		if stale := s.labels.Tag.Stale; stale != "" {
			s.report.MarkTrue(v1alpha2.ConditionDegraded, v1alpha2.ReasonBaseConfigStale, stale)
		}
		return
	}
	switch {
	case failure.Condition == v1alpha2.ConditionSecretsResolved:
		s.report.MarkTrue(v1alpha2.ConditionDegraded, v1alpha2.ReasonSecretChangedToInvalid,
			"The pods keep the values that they started with; see the condition "+failure.Condition)
	case s.lacksBase(failure):
		s.report.MarkTrue(v1alpha2.ConditionDegraded, v1alpha2.ReasonBaseConfigStale,
			"The pods keep the configuration that they started with; see the condition "+failure.Condition)
	}
}

// lacksBase reports whether the base configuration cannot be read from the image or the ConfigMap.
func (s *state) lacksBase(failure *status.Failure) bool {
	if failure.Reason == v1alpha2.ReasonBaseConfigUnavailable {
		return true
	}
	if failure.Condition != v1alpha2.ConditionValidationSucceeded || s.stack.Spec.BaseConfig == nil ||
		s.configMaps.contents == nil {
		return false
	}
	return plan.ReadBase(s.stack, s.configMaps.contents) == nil
}

// reportAutoscaler adds a condition if the autoscaler does not scale the pods although they have served requests for a
// while. It waits because new pods have no metrics yet.
func (r *Reconciler) reportAutoscaler(s *state) error {
	available := meta.FindStatusCondition(s.report.Conditions, v1alpha2.ConditionAvailable)
	if available.Status != "True" || meta.FindStatusCondition(s.report.Conditions, v1alpha2.ConditionDegraded) != nil {
		return nil
	}
	i := slices.IndexFunc(s.applied.objects,
		func(a apply.Applied) bool { return a.Kind.Kind == "HorizontalPodAutoscaler" })
	if i < 0 {
		return nil
	}
	autoscaler, err := typed[autoscalingv2.HorizontalPodAutoscaler](s.applied.objects[i].Object)
	if err != nil {
		return err
	}
	trouble, since := status.AutoscalerTrouble(autoscaler)
	if trouble == "" {
		return nil
	}
	if served := r.servedSince(s.stack); served.After(since) {
		since = served
	}
	if told := since.Add(r.autoscalerPatience); r.now().Before(told) {
		s.report.Requeue(told)
		return nil
	}
	s.report.MarkTrue(v1alpha2.ConditionDegraded, v1alpha2.ReasonAutoscalerInactive, trouble)
	return nil
}

// servedSince returns the time at which the pods began to serve requests, according to the status. If the status does
// not contain this time yet, servedSince returns the current time.
func (r *Reconciler) servedSince(stack *stack) time.Time {
	was := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionAvailable)
	if was == nil || was.Status != "True" {
		return r.now()
	}
	return was.LastTransitionTime.Time
}
