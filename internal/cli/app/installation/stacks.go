package installation

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// maxStacks is the maximum number of stacks that are reported individually.
const maxStacks = 50

func checkStacks(r *report, facts *Facts) {
	if facts.Stacks.Problem != "" {
		r.unknown("the stacks", facts.Stacks.Problem)
		return
	}
	healthy, left := 0, 0
	for i := range facts.Stacks.Value {
		stack := &facts.Stacks.Value[i]
		found, message := judge(stack)
		switch {
		case found == OK:
			healthy++
		case len(r.findings) >= maxStacks:
			left++
		default:
			r.add(found, fmt.Sprintf("%s/%s: %s", stack.Namespace, stack.Name, message),
				fmt.Sprintf("run kubectl llamastack status %s -n %s", stack.Name, stack.Namespace))
		}
	}
	if left > 0 {
		r.add(Warning, fmt.Sprintf("other stacks that are not Ready or have a warning: %d", left), "to list all stacks, run kubectl get llsd -A")
	}
	if healthy == len(facts.Stacks.Value) {
		r.ok(fmt.Sprintf("stacks that are Ready: %d of %d", healthy, len(facts.Stacks.Value)))
	}
	if writers := olderWriters(facts.Stacks.Value); writers != "" {
		r.ok(writers)
	}
}

// judge returns the status of a stack, with the reason and the message of the condition that Ready depends on.
func judge(stack *v1alpha2.LlamaStackDistribution) (Status, string) {
	if problem, ok := stack.Annotations[names.UnreadableSpec]; ok {
		return Error, "cannot be decoded, so the operator ignores its changes: " + problem
	}
	if stack.DeletionTimestamp != nil {
		return Warning, "is being deleted"
	}
	ready := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionReady)
	if ready == nil || ready.ObservedGeneration != 0 && ready.ObservedGeneration < stack.Generation {
		return Warning, "the operator has not reconciled the stack yet"
	}
	if ready.Status == metav1.ConditionTrue {
		return risk(stack)
	}
	explained := ready // The message contains only the name of the condition that Ready depends on.
	if cause := status.Cause(stack.Status.Conditions); cause != nil {
		explained = cause
	}
	text := explained.Reason
	if explained.Message != "" {
		text += ": " + explained.Message
	}
	switch {
	case names.Paused(stack.Annotations):
		return Warning, "is paused; " + text
	case status.InProgress(stack.Status.Conditions, ready.Reason):
		return Warning, text
	default:
		return Error, text
	}
}

// risk returns a warning if data of a stack that is Ready is not on its volume. The next change to the stack deletes
// it.
func risk(stack *v1alpha2.LlamaStackDistribution) (Status, string) {
	left := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDataLeftBehind)
	if left == nil || left.Reason != v1alpha2.ReasonDataNotOnVolume {
		return OK, ""
	}
	return Warning, left.Reason + ": " + left.Message
}
