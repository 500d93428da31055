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

const (
	// maxEvents is the maximum number of events for one status write.
	maxEvents = 2
	// Action is the action of events about a stack.
	Action = "Reconcile"
)

// emit records the given events, and events for the changes between the previous and the current status of a stack. It
// records at most maxEvents, warnings first.
func (w *Writer) emit(
	stack *v1alpha2.LlamaStackDistribution, events []Event, previous *v1alpha2.LlamaStackDistributionStatus,
) {
	changes := Report{}
	changes.addChanges(&stack.Status, previous)
	events = append(changes.Events, events...)
	emitted := 0
	for _, kind := range []string{corev1.EventTypeWarning, corev1.EventTypeNormal} {
		for _, event := range events {
			if event.Type != kind || emitted == maxEvents {
				continue
			}
			w.recorder.Eventf(stack, nil, event.Type, event.Reason, Action, "%s", status.Note(event.Note))
			emitted++
		}
	}
}

// eventOf lists the conditions that cause an event when they become False, or when their reason or message changes
// while they are False. Each entry contains the reason of the event.
var eventOf = []struct{ condition, reason string }{
	{v1alpha2.ConditionSecretsResolved, v1alpha2.EventSecretResolutionFailed},
	{v1alpha2.ConditionConfigGenerated, v1alpha2.EventConfigGenerationFailed},
}

// waitEvents maps reasons of the condition DeploymentUpdated to event reasons. The reasons of the condition mean that
// the operator holds back a change to the pods.
var waitEvents = map[string]string{
	v1alpha2.ReasonPreflightFailed:     v1alpha2.EventPreflightFailed,
	v1alpha2.ReasonDataLossNotAccepted: v1alpha2.EventDataLossNotAccepted,
}

// addChanges adds events for the changes between the previous and the current status.
func (r *Report) addChanges(now, previous *v1alpha2.LlamaStackDistributionStatus) {
	for _, e := range eventOf {
		was, is := meta.FindStatusCondition(previous.Conditions, e.condition),
			meta.FindStatusCondition(now.Conditions, e.condition)
		news := was == nil || was.Reason != is.Reason || was.Message != is.Message
		if is.Status == "False" && news {
			r.Warning(e.reason, is.Message)
		}
	}
	updated := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionDeploymentUpdated)
	was := meta.FindStatusCondition(previous.Conditions, v1alpha2.ConditionDeploymentUpdated)
	if event, ends := waitEvents[updated.Reason]; ends && (was == nil || was.Message != updated.Message) {
		r.Warning(event, updated.Message)
	}
	// The message about a quota changes with its use, so only a new spec or a new reason causes another event.
	if updated.Reason == v1alpha2.ReasonDeploymentUpdateFailed &&
		(was == nil || was.Reason != updated.Reason || was.ObservedGeneration != updated.ObservedGeneration) {
		r.Warning(v1alpha2.EventDeploymentUpdateFailed, updated.Message)
	}
}
