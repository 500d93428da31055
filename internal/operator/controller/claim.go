package controller

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
)

// pendingClaims returns the stack's claim if the claim has no volume and events report a problem. The message in the
// result is from the latest of these events.
func (r *Reconciler) pendingClaims(ctx context.Context, stack *stack) ([]status.PendingClaim, error) {
	claim, err := r.cachedClaim(ctx, stack)
	if err != nil || claim == nil || claim.Status.Phase == corev1.ClaimBound {
		return nil, err
	}
	var events corev1.EventList
	if err := r.cache.List(ctx, &events, client.InNamespace(claim.Namespace),
		client.MatchingFields{caches.FieldClaim: claim.Name}); err != nil {
		return nil, fmt.Errorf("list cached events: %w", err)
	}
	var last *corev1.Event
	for i := range events.Items {
		event := &events.Items[i]
		if event.InvolvedObject.UID == claim.UID && caches.IsTrouble(event) &&
			(last == nil || lastSeen(event).After(lastSeen(last))) {
			last = event
		}
	}
	if last == nil {
		return nil, nil
	}
	return []status.PendingClaim{{Name: claim.Name, Message: last.Message}}, nil
}

// cachedClaim returns the stack's volume claim from the cache, or nil if there is none.
func (r *Reconciler) cachedClaim(ctx context.Context, stack *stack) (*corev1.PersistentVolumeClaim, error) {
	claim := &corev1.PersistentVolumeClaim{}
	err := r.children.Get(ctx, childKey(stack, names.PersistentVolumeClaim(stack.Name)), claim)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read cached PersistentVolumeClaim: %w", err)
	}
	return claim, nil
}

// lastSeen returns the time of the last occurrence of an event.
func lastSeen(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	default:
		return event.EventTime.Time
	}
}
