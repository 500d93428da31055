package report

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

const (
	// maxEvents is the maximum number of events for one status write.
	maxEvents = 2
	// Action is the action of events about a stack.
	Action = "Reconcile"
)

// emit records the given events, and events for the changes between the previous and the current status of a stack. It
// records at most maxEvents, warnings first. releaseNote is the text about the server's release in the message of
// ConfigGenerated.
func (w *Writer) emit(
	stack *v1alpha2.LlamaStackDistribution, events []Event, previous *v1alpha2.LlamaStackDistributionStatus, releaseNote string,
) {
	changes := Report{}
	changes.addChanges(&stack.Status, previous, releaseNote)
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
func (r *Report) addChanges(now, previous *v1alpha2.LlamaStackDistributionStatus, releaseNote string) {
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
	if made := now.GeneratedConfigMap(); made != "" && made != previous.GeneratedConfigMap() {
		generated := meta.FindStatusCondition(now.Conditions, v1alpha2.ConditionConfigGenerated)
		message := strings.TrimSuffix(generated.Message, "; "+releaseNote)
		r.Normal(v1alpha2.EventConfigGenerated, message+" in ConfigMap "+made)
	}
}
