package stackstatus

import (
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// patience is the time within which a running operator observes a change.
const patience = 30 * time.Second

// observation states which operator has observed a stack.
type observation int

const (
	// current means that the status is about the current generation.
	current observation = iota
	// awaited means that the stack has changed recently, and no operator has observed that yet.
	awaited
	// unobserved means that no operator has observed the current generation for a while.
	unobserved
	// older means that an operator for v1alpha1 wrote the status.
	older
)

// observe determines which operator has observed the current generation of a stack.
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

// changedAt returns when a client last changed the stack itself, and not its status.
func changedAt(stack *v1alpha2.LlamaStackDistribution) time.Time {
	at := stack.CreationTimestamp.Time
	for _, entry := range stack.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}
