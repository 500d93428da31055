package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// event is something that happened to a stack.
type event struct {
	kind, reason, note string
}

func tell(reason, note string) event { return event{corev1.EventTypeNormal, reason, note} }
func warn(reason, note string) event { return event{corev1.EventTypeWarning, reason, note} }

const (
	// maxEvents bounds the events of one change.
	maxEvents = 2
	// maxNote is the API's limit on an event's note, in bytes.
	maxNote = 1024
	// eventAction is what the operator was doing.
	eventAction = "Reconcile"
	// configAction is the same for the operator's own ConfigMap.
	configAction = "ReadConfig"
)

// report emits what is new in this status, warnings first. Nothing is new in a
// status that says what it said before.
func (r *Reconciler) report(s *state, previous *v1alpha2.LlamaStackDistributionStatus) {
	events := append(s.conditionEvents(previous), s.events...)
	emitted := 0
	for _, kind := range []string{corev1.EventTypeWarning, corev1.EventTypeNormal} {
		for _, event := range events {
			if event.kind != kind || emitted == maxEvents {
				continue
			}
			r.recorder.Eventf(s.object, nil, event.kind, event.reason, eventAction, "%s", truncate(event.note))
			emitted++
		}
	}
}

// eventOf are the conditions whose change is an event, by what it is called
// when they turn False.
var eventOf = []struct{ condition, reason string }{
	{v1alpha2.ConditionSecretsResolved, v1alpha2.EventSecretResolutionFailed},
	{v1alpha2.ConditionConfigGenerated, v1alpha2.EventConfigGenerationFailed},
}

// waitEvents are the events of a change that does not reach the pods, by its reason.
var waitEvents = map[string]string{
	v1alpha2.ReasonPreflightFailed:     v1alpha2.EventPreflightFailed,
	v1alpha2.ReasonDataLossNotAccepted: v1alpha2.EventDataLossNotAccepted,
}

// conditionEvents are the events that follow from what the status says now and
// did not say before.
func (s *state) conditionEvents(previous *v1alpha2.LlamaStackDistributionStatus) []event {
	now := &s.object.Status
	var events []event
	for _, e := range eventOf {
		was, is := meta.FindStatusCondition(previous.Conditions, e.condition), meta.FindStatusCondition(now.Conditions, e.condition)
		news := was == nil || was.Reason != is.Reason || was.Message != is.Message
		if is.Status == "False" && news {
			events = append(events, warn(e.reason, is.Message))
		}
	}
	valid := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionValidationSucceeded)
	was := meta.FindStatusCondition(previous.Conditions, v1alpha2.ConditionValidationSucceeded)
	if valid.Reason == v1alpha2.ReasonSpecValidWithUnsupportedFields && (was == nil || was.Message != valid.Message) {
		events = append(events, warn(v1alpha2.EventUnsupportedField, valid.Message))
	}
	updated := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionDeploymentUpdated)
	was = meta.FindStatusCondition(previous.Conditions, v1alpha2.ConditionDeploymentUpdated)
	if event, ends := waitEvents[updated.Reason]; ends && (was == nil || was.Message != updated.Message) {
		events = append(events, warn(event, updated.Message))
	}
	if now.GeneratedConfigMap != "" && now.GeneratedConfigMap != previous.GeneratedConfigMap {
		generated := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionConfigGenerated)
		message := strings.TrimSuffix(generated.Message, "; "+s.releaseNote)
		events = append(events, tell(v1alpha2.EventConfigGenerated, message+" in ConfigMap "+now.GeneratedConfigMap))
	}
	return events
}

func truncate(note string) string { return status.Shorten(note, maxNote) }
