package status

import (
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// patience is the time within which a running operator observes a change.
const patience = 30 * time.Second

// observation describes whether an operator has observed the current generation of a stack.
type observation int

const (
	// current means that the status describes the current generation.
	current observation = iota
	// awaited means that the stack changed recently, and that no operator has observed the change yet.
	awaited
	// unobserved means that the stack changed some time ago, and that no operator has observed the change.
	unobserved
	// older means that an operator for v1alpha1 wrote the status.
	older
)

// observe returns the observation of a stack.
func observe(stack *v1alpha2.LlamaStackDistribution, now time.Time) observation {
	status := &stack.Status
	switch {
	case status.ObservedGeneration >= stack.Generation && status.ObservedGeneration > 0:
		return current
	case status.ObservedGeneration == 0 && (status.Phase != "" || status.Version != nil):
		return older
	case now.Sub(changedAt(stack)) < patience:
		return awaited
	default:
		return unobserved
	}
}

// changedAt returns the time of the last change to a stack. It ignores changes to the status.
func changedAt(stack *v1alpha2.LlamaStackDistribution) time.Time {
	at := stack.CreationTimestamp.Time
	for _, entry := range stack.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}
