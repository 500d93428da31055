package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// retention reports the data that a change leaves behind, before the operator writes the change. A change that would
// permanently lose data waits until the user accepts the loss.
func (r *Reconciler) retention(stack *stack, made *plan.Plan, decision rollout.Decision) (leaves []string, err error) {
	if !decision.Replaces || len(made.Losses) == 0 {
		return nil, nil
	}
	if waiting, unknown := made.Waiting(); len(waiting) > 0 {
		return nil, notAccepted(waiting, unknown)
	}
	leaves = made.Rendered.Record.Left
	told := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDataLeftBehind)
	if told == nil || told.Message != report.InItsWords(stack, leftMessage(leaves)) {
		r.recorder.Eventf(stack, nil, corev1.EventTypeWarning, v1alpha2.EventDataLeftBehind, report.Action, "%s",
			report.InItsWords(stack, leftNote(leaves)))
	}
	return leaves, nil
}

// notAccepted returns the failure for a change that waits until the user accepts a loss.
func notAccepted(waiting []retention.Loss, unknown []string) error {
	lines := make([]string, 0, len(waiting)+1)
	for _, loss := range waiting {
		lines = append(lines, loss.String())
	}
	lines = append(lines, "The running pods do not change"+retention.Unknown(waiting, unknown))
	return &status.Failure{
		Condition: v1alpha2.ConditionDeploymentUpdated, Reason: v1alpha2.ReasonDataLossNotAccepted,
		Message: strings.Join(lines, "\n"), Retry: status.OnObjectChange,
	}
}

// leftMessage returns the message of the condition about data that was left behind.
func leftMessage(left []string) string { return strings.Join(left, "\n") }

// leftNote returns the note of the event about data that was left behind. It shortens the entries so that all fit.
func leftNote(left []string) string {
	lines := make([]string, 0, len(left))
	for _, line := range left {
		lines = append(lines, status.Shorten(line, status.MaxNote/len(left)-1))
	}
	return strings.Join(lines, "\n")
}
