package controller

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

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

// emit records what is new in this status, warnings first. Nothing is new in a
// status that says what it said before. releaseNote is what the message of a condition has beside its reason.
func (r *Reconciler) emit(stack *stack, events []event, previous *v1alpha2.LlamaStackDistributionStatus, releaseNote string) {
	changes := report{}
	changes.addChanges(&stack.Status, previous, releaseNote)
	events = append(changes.events, events...)
	emitted := 0
	for _, kind := range []string{corev1.EventTypeWarning, corev1.EventTypeNormal} {
		for _, event := range events {
			if event.kind != kind || emitted == maxEvents {
				continue
			}
			r.recorder.Eventf(stack, nil, event.kind, event.reason, eventAction, "%s", truncateMessage(event.note))
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

// addChanges adds the events that follow from what the status says now and
// did not say before.
func (r *report) addChanges(now, previous *v1alpha2.LlamaStackDistributionStatus, releaseNote string) {
	for _, e := range eventOf {
		was, is := meta.FindStatusCondition(previous.Conditions, e.condition), meta.FindStatusCondition(now.Conditions, e.condition)
		news := was == nil || was.Reason != is.Reason || was.Message != is.Message
		if is.Status == "False" && news {
			r.warningEvent(e.reason, is.Message)
		}
	}
	updated := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionDeploymentUpdated)
	was := meta.FindStatusCondition(previous.Conditions, v1alpha2.ConditionDeploymentUpdated)
	if event, ends := waitEvents[updated.Reason]; ends && (was == nil || was.Message != updated.Message) {
		r.warningEvent(event, updated.Message)
	}
	if made := now.GeneratedConfigMap(); made != "" && made != previous.GeneratedConfigMap() {
		generated := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionConfigGenerated)
		message := strings.TrimSuffix(generated.Message, "; "+releaseNote)
		r.normalEvent(v1alpha2.EventConfigGenerated, message+" in ConfigMap "+made)
	}
}

// truncateMessage shortens a text to what an event may hold.
func truncateMessage(note string) string { return status.Shorten(note, maxNote) }
