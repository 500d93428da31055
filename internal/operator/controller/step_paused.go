package controller

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// paused ends the reconcile of a paused stack before the operator writes an object. All earlier steps run, so that the
// status shows whether the spec is valid and complete. paused returns the decision that would apply without the pause.
func (r *Reconciler) paused(
	ctx context.Context, stack *stack, workload *workload, made *plan.Plan, report *report.Report,
) (rollout.Decision, error) {
	if !names.Paused(stack.Annotations) {
		return rollout.Decision{}, nil
	}
	decision, err := r.decide(ctx, stack, workload.Deployment, workload.ReplicaSets, made.Rendered)
	if err != nil {
		return decision, err
	}
	reportDecision(stack, decision, report)
	if err := r.observeVolume(ctx, stack, report); err != nil {
		return decision, err
	}
	condition := pausedCondition(workload.Deployment != nil, decision)
	diverted, err := r.isDiverted(ctx, stack)
	if err != nil {
		return decision, err
	}
	if diverted {
		condition.Message += fmt.Sprintf(". Service %q was changed and does not lead to the pods of the stack",
			names.Service(stack.Name))
	}
	return decision, &status.Failure{
		Condition: condition.Type, Reason: condition.Reason, Message: condition.Message, Unknown: true,
		Retry: status.OnReferenceChange,
	}
}

// isDiverted reports whether the Service of the stack does not lead to the pods of the stack. The operator repairs such
// a Service when the stack is no longer paused.
func (r *Reconciler) isDiverted(ctx context.Context, stack *stack) (bool, error) {
	var service corev1.Service
	err := r.children.Get(ctx, childKey(stack, names.Service(stack.Name)), &service)
	if err != nil || !metav1.IsControlledBy(&service, stack) {
		return false, client.IgnoreNotFound(err)
	}
	return service.Spec.Type != corev1.ServiceTypeClusterIP ||
		!maps.Equal(service.Spec.Selector, names.Selector(stack.Name)), nil
}

// pausedCondition returns the condition of a paused stack. The condition reports a pending change to the pods, but not
// to other objects.
func pausedCondition(deployed bool, decision rollout.Decision) metav1.Condition {
	message := fmt.Sprintf("The stack is paused: while its annotation %s is \"true\", the operator writes only the status", names.AnnotationPaused)
	switch {
	case !deployed:
		message += "; the stack has no Deployment yet"
	case decision.Outcome == rollout.Changed:
		message += "; a change to the pods is pending"
	}
	return metav1.Condition{
		Type: v1alpha2.ConditionDeploymentUpdated, Status: metav1.ConditionUnknown, Reason: v1alpha2.ReasonDeploymentPaused,
		Message: message + ". Remove the annotation to continue",
	}
}

// observeVolume adds the condition for the volume of a paused stack, because the step apply, which otherwise adds it,
// does not run.
func (r *Reconciler) observeVolume(ctx context.Context, stack *stack, report *report.Report) error {
	if workload := stack.Spec.Workload; workload == nil || workload.Storage == nil {
		return nil
	}
	claim, err := r.cachedClaim(ctx, stack)
	if claim != nil {
		report.Conditions = append(report.Conditions, storageCondition(claim))
	}
	return err
}
