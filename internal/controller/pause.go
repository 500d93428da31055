package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// paused ends a reconcile of a paused stack before anything is written. Everything before it runs, so that the status
// shows whether the spec is valid and complete.
func (r *Reconciler) paused(ctx context.Context, s *state) error {
	if !names.Paused(s.object.Annotations) {
		return nil
	}
	if err := r.weigh(ctx, s, s.deployment); err != nil {
		return err
	}
	s.tellDecision()
	if err := r.observeVolume(ctx, s); err != nil {
		return err
	}
	condition := s.pause()
	return &status.Failure{
		Condition: condition.Type, Reason: condition.Reason, Message: condition.Message, Unknown: true, Retry: status.OnReferenceChange,
	}
}

// pause is the condition of a paused stack. Nobody looks whether its objects are as the spec asks for.
func (s *state) pause() metav1.Condition {
	message := fmt.Sprintf("The stack is paused: while its annotation %s is \"true\" nothing but the status is written", names.AnnotationPaused)
	switch {
	case s.deployment == nil:
		message += "; its Deployment is not made"
	case s.decision.Outcome == rollout.Changed:
		message += "; a change of the pods waits"
	}
	return metav1.Condition{
		Type: v1alpha2.ConditionDeploymentUpdated, Status: metav1.ConditionUnknown, Reason: v1alpha2.ReasonDeploymentPaused,
		Message: message + ". Remove the annotation to go on",
	}
}

// tellPaused shows a pause beside the failure of an earlier step.
func (s *state) tellPaused(failure *status.Failure) {
	if failure != nil && failure.Condition != v1alpha2.ConditionDeploymentUpdated && names.Paused(s.object.Annotations) {
		s.conditions = append(s.conditions, s.pause())
	}
}

// serves reports whether the pods that run are those of the spec, so that the server can be asked as the spec says.
func (s *state) serves(failure *status.Failure) bool {
	if failure == nil {
		return true
	}
	return failure.Reason == v1alpha2.ReasonDeploymentPaused && s.deployment != nil && s.decision.Outcome != rollout.Changed
}

// observeVolume notes the state of the stack's volume, which is not applied.
func (r *Reconciler) observeVolume(ctx context.Context, s *state) error {
	if workload := s.object.Spec.Workload; workload == nil || workload.Storage == nil {
		return nil
	}
	var claim corev1.PersistentVolumeClaim
	err := r.cache.Get(ctx, s.child(names.PersistentVolumeClaim(s.object.Name)), &claim)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read cached PersistentVolumeClaim: %w", err)
	}
	if err == nil {
		s.conditions = append(s.conditions, storage(&claim))
	}
	return nil
}

// tellDecision notes what the record says of the Deployment beside what is applied.
func (s *state) tellDecision() {
	switch s.decision.Outcome {
	case rollout.KeepTemplate:
		s.fails(v1alpha2.ConditionAdopted, v1alpha2.ReasonRenderingDiffers, s.decision.Message)
	case rollout.RolledBack:
		s.holds(v1alpha2.ConditionDegraded, v1alpha2.ReasonRolledBack, s.decision.Message)
		was := meta.FindStatusCondition(s.object.Status.Conditions, v1alpha2.ConditionDegraded)
		if was == nil || was.Reason != v1alpha2.ReasonRolledBack {
			s.events = append(s.events, warn(v1alpha2.EventRolledBack, s.decision.Message))
		}
	case rollout.Changed, rollout.Unchanged, rollout.StaleCache:
	}
}
