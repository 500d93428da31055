package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
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
		s.configMaps.Contents == nil {
		return false
	}
	return plan.ReadBase(s.stack, s.configMaps.Contents) == nil
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

// pendingClaims returns the stack's claim if the claim has no volume and events report a problem. The message in the
// result is from the latest of these events.
func (r *Reconciler) pendingClaims(ctx context.Context, stack *stack) ([]status.PendingClaim, error) {
	claim, err := r.cachedClaim(ctx, stack)
	if err != nil || claim == nil || claim.Status.Phase == corev1.ClaimBound {
		return nil, err
	}
	var events corev1.EventList
	if err := r.cache.List(ctx, &events, client.InNamespace(claim.Namespace),
		client.MatchingFields{caches.FieldClaim: claim.Name}, client.UnsafeDisableDeepCopy); err != nil { // read-only
		return nil, fmt.Errorf("list cached events: %w", err)
	}
	var last *corev1.Event
	for i := range events.Items {
		event := &events.Items[i]
		if event.InvolvedObject.UID == claim.UID && caches.IsTrouble(event) &&
			(last == nil || lastSeen(event).After(lastSeen(last))) {
			last = event
		}
	}
	if last == nil {
		return nil, nil
	}
	return []status.PendingClaim{{Name: claim.Name, Message: last.Message}}, nil
}

// cachedClaim returns the stack's volume claim from the cache, or nil if there is none.
func (r *Reconciler) cachedClaim(ctx context.Context, stack *stack) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	err := r.children.Get(ctx, childKey(stack, names.PersistentVolumeClaim(stack.Name)), claim)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read cached PersistentVolumeClaim: %w", err)
	}
	return claim, nil
}

// lastSeen returns the time of the last occurrence of an event.
func lastSeen(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	default:
		return event.EventTime.Time
	}
}
