package controller

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// inItsWords replaces the field names in a message with the field names of the API version in which the stack was
// created.
func inItsWords(stack *stack, text string) string {
	if profile.Of(stack.Annotations).V1alpha1 {
		return convert.OlderPaths(text)
	}
	return text
}

// reportInItsWords calls inItsWords for all conditions, all events and the failure of a reconcile. It changes the
// conditions and events in place, and returns a changed copy of the failure.
func (s *state) reportInItsWords(failure *status.Failure) *status.Failure {
	for i := range s.report.conditions {
		s.report.conditions[i].Message = inItsWords(s.stack, s.report.conditions[i].Message)
	}
	for i := range s.report.events {
		s.report.events[i].note = inItsWords(s.stack, s.report.events[i].note)
	}
	if failure == nil {
		return nil
	}
	told := *failure
	told.Message = inItsWords(s.stack, told.Message)
	return &told
}
