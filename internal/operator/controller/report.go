package controller

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// report collects the conditions and events from the steps of a reconcile.
type report struct {
	conditions []metav1.Condition
	events     []event
	// requeueAt is the time of the next reconcile if no object changes before then. Zero means never.
	requeueAt time.Time
}

// event is an event about a stack.
type event struct {
	kind, reason, note string
}

// markTrue adds a condition that is True.
func (r *report) markTrue(condition, reason, message string) {
	r.conditions = append(r.conditions, metav1.Condition{
		Type: condition, Status: metav1.ConditionTrue, Reason: reason, Message: message,
	})
}

// markFalse adds a condition that is False. The reconcile continues.
func (r *report) markFalse(condition, reason, message string) {
	r.conditions = append(r.conditions, metav1.Condition{
		Type: condition, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	})
}

// has reports whether there is a condition with this reason.
func (r *report) has(condition, reason string) bool {
	found := meta.FindStatusCondition(r.conditions, condition)
	return found != nil && found.Reason == reason
}

func (r *report) normalEvent(reason, note string) {
	r.events = append(r.events, event{corev1.EventTypeNormal, reason, note})
}

func (r *report) warningEvent(reason, note string) {
	r.events = append(r.events, event{corev1.EventTypeWarning, reason, note})
}

// requeue requests another reconcile at the given time. The earliest requested time applies.
func (r *report) requeue(at time.Time) {
	if r.requeueAt.IsZero() || at.Before(r.requeueAt) {
		r.requeueAt = at
	}
}

// requeueAfter returns the duration until the requested reconcile. Zero means that no step requested one.
func (r *report) requeueAfter(now time.Time) time.Duration {
	if r.requeueAt.IsZero() {
		return 0
	}
	return max(r.requeueAt.Sub(now), time.Second)
}

// timestamp truncates a time to seconds, because times in the API have this precision.
func timestamp(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }
