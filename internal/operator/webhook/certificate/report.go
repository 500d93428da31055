package certificate

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/informer"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// maxNote is the maximum length in bytes of an event's note.
	maxNote = 1024
	// firstRetry and lastRetry bound the pauses after consecutive failures. Each pause is twice as long as the previous
	// one.
	firstRetry = time.Second
	lastRetry  = time.Minute
	// quietRetry is a limit for write conflicts with another replica. A reporter does not report a conflict while the
	// pause before the next attempt is not longer. quietRetry is also the injector's pause if its bundle is older than the
	// Secret's bundle, or if the injector cannot write a condition.
	quietRetry = 8 * time.Second
)

// reporter reports a failure once. It reports the same failure again only after a different failure or a success.
type reporter struct {
	recorder events.EventRecorder // nil means no events
	// regards is the object that events refer to.
	regards corev1.ObjectReference
	action  string
	told    string
	pause   time.Duration
}

// newReporter returns a reporter for the failures of an action. The events name this action, and refer to the Secret.
func newReporter(options Options, action string) *reporter {
	return &reporter{recorder: options.Recorder, action: action, regards: corev1.ObjectReference{
		APIVersion: "v1", Kind: "Secret", Namespace: options.Namespace, Name: names.WebhookCertificateSecret,
	}}
}

// failed reports a failure, and returns the pause before the next attempt.
func (r *reporter) failed(ctx context.Context, err error) time.Duration {
	r.pause = min(max(2*r.pause, firstRetry), lastRetry)
	lost := r.pause <= quietRetry && (apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err))
	if kind := kindOf(err); kind != r.told && !lost {
		r.told = kind
		r.tell(ctx, err)
	} else {
		log.FromContext(ctx).V(1).Info("Trying again", "error", err.Error())
	}
	return r.pause
}

// kindOf identifies a failure by its kind, because the text of the same failure can vary.
func kindOf(err error) string {
	if informer.Unavailable(err) {
		return "Unavailable"
	}
	if reason := apierrors.ReasonForError(err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return err.Error()
}

func (r *reporter) tell(ctx context.Context, err error) {
	log.FromContext(ctx).Error(err, "The API server might not trust the webhooks; trying again")
	if r.recorder != nil {
		note := err.Error()
		r.recorder.Eventf(&r.regards, nil, corev1.EventTypeWarning, v1alpha2.EventWebhookCertificateFailed, r.action,
			"%s", note[:min(len(note), maxNote)])
	}
}

// works resets the reporter, so that it reports the next failure of any kind.
func (r *reporter) works() { r.told, r.pause = "", 0 }
