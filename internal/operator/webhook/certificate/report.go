package certificate

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	// secret is the Secret with the certificates. regards is the object that events refer to.
	secret  *metav1.PartialObjectMetadata
	regards *metav1.PartialObjectMetadata
	action  string
	told    string
	pause   time.Duration
}

// newReporter returns a reporter for the failures of an action. The events name this action.
func newReporter(options Options, action string) *reporter {
	secret := regard(corev1.SchemeGroupVersion.WithKind("Secret"),
		metav1.ObjectMeta{Namespace: options.Namespace, Name: names.WebhookCertificateSecret})
	return &reporter{recorder: options.Recorder, action: action, secret: secret, regards: secret}
}

// about makes later events refer to the object with the given metadata, so that kubectl describe shows them for the
// object. While the object cannot be read, events refer to the Secret.
func (r *reporter) about(kind schema.GroupVersionKind, found metav1.ObjectMeta) {
	r.regards = r.secret
	if found.UID != "" {
		r.regards = regard(kind, found)
	}
}

// regard returns the metadata that an event needs to refer to an object.
func regard(kind schema.GroupVersionKind, object metav1.ObjectMeta) *metav1.PartialObjectMetadata {
	regarded := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: object.Namespace, Name: object.Name,
		UID: object.UID,
	}}
	regarded.SetGroupVersionKind(kind)
	return regarded
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
		r.recorder.Eventf(r.regards, nil, corev1.EventTypeWarning, v1alpha2.EventWebhookCertificateFailed, r.action,
			"%s", note[:min(len(note), maxNote)])
	}
}

// works resets the reporter, so that it reports the next failure of any kind.
func (r *reporter) works() { r.told, r.pause = "", 0 }
