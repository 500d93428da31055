package report

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// Report collects the conditions and events from the steps of a reconcile.
type Report struct {
	Conditions []metav1.Condition
	Events     []Event
	// requeueAt is the time of the next reconcile if no object changes before then. Zero means never.
	requeueAt time.Time
}

// Event is an event about a stack. Its type is Normal or Warning.
type Event struct {
	Type, Reason, Note string
}

// MarkTrue adds a condition that is True.
func (r *Report) MarkTrue(condition, reason, message string) {
	r.Conditions = append(r.Conditions, metav1.Condition{
		Type: condition, Status: metav1.ConditionTrue, Reason: reason, Message: message,
	})
}

// MarkFalse adds a condition that is False. The reconcile continues.
func (r *Report) MarkFalse(condition, reason, message string) {
	r.Conditions = append(r.Conditions, metav1.Condition{
		Type: condition, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	})
}

// Has reports whether there is a condition with this reason.
func (r *Report) Has(condition, reason string) bool {
	found := meta.FindStatusCondition(r.Conditions, condition)
	return found != nil && found.Reason == reason
}

// Normal adds an event of type Normal.
func (r *Report) Normal(reason, note string) {
	r.Events = append(r.Events, Event{corev1.EventTypeNormal, reason, note})
}

// Warning adds an event of type Warning.
func (r *Report) Warning(reason, note string) {
	r.Events = append(r.Events, Event{corev1.EventTypeWarning, reason, note})
}

// Requeue requests another reconcile at the given time. The earliest requested time applies.
func (r *Report) Requeue(at time.Time) {
	if r.requeueAt.IsZero() || at.Before(r.requeueAt) {
		r.requeueAt = at
	}
}

// RequeueAfter returns the duration until the requested reconcile. Zero means that no step requested one.
func (r *Report) RequeueAfter(now time.Time) time.Duration {
	if r.requeueAt.IsZero() {
		return 0
	}
	return max(r.requeueAt.Sub(now), time.Second)
}

// Timestamp truncates a time to seconds, because times in the API have this precision.
func Timestamp(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

// InItsWords replaces the field names in a message with the field names of the API version in which the stack was
// created.
func InItsWords(stack *v1alpha2.LlamaStackDistribution, text string) string {
	if profile.Of(stack.Annotations).V1alpha1 {
		return convert.OlderPaths(text)
	}
	return text
}

// InItsWords calls InItsWords for all conditions, all events and the failure of a reconcile. It changes the conditions
// and events in place, and returns a changed copy of the failure.
func (r *Report) InItsWords(stack *v1alpha2.LlamaStackDistribution, failure *status.Failure) *status.Failure {
	for i := range r.Conditions {
		r.Conditions[i].Message = InItsWords(stack, r.Conditions[i].Message)
	}
	for i := range r.Events {
		r.Events[i].Note = InItsWords(stack, r.Events[i].Note)
	}
	if failure == nil {
		return nil
	}
	told := *failure
	told.Message = InItsWords(stack, told.Message)
	return &told
}
