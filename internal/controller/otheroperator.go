package controller

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/controller/metrics"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// otherOperatorGone is how long an operator for v1alpha1 writes no status before it counts as gone. It writes the status of
// each of its stacks at least every 5 minutes, whether anything changed or not.
const otherOperatorGone = 15 * time.Minute

// OtherStatusWrites returns of the managed fields of a stack those that tell when another operator wrote its status. Only
// operators for v1alpha1 write a status in that version. Of the fields, an entry keeps at most status.version.lastUpdated: the
// time of an entry changes only when its fields are other ones, and that field changes with each write.
func OtherStatusWrites(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var writes []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource == "status" && entry.APIVersion == v1alpha1.GroupVersion.String() && entry.Manager != names.FieldManager {
			entry.FieldsV1 = ownsLastUpdated(entry.FieldsV1)
			writes = append(writes, entry)
		}
	}
	return writes
}

// ownsLastUpdated returns the field status.version.lastUpdated alone when it is among the fields, else nil.
func ownsLastUpdated(fields *metav1.FieldsV1) *metav1.FieldsV1 {
	if fields == nil || !strings.Contains(fields.GetRawString(), `"f:lastUpdated"`) {
		return nil
	}
	return metav1.NewFieldsV1(`{"f:status":{"f:version":{"f:lastUpdated":{}}}}`)
}

// otherOperator tells when an operator for v1alpha1 acts on the same stacks: one that another installation runs in another
// namespace, with a lease of its own. Each of the two would undo what the other writes, so this one holds back.
type otherOperator struct {
	mu sync.Mutex
	// since is when this operator began to act. What was written before is of the operator that it replaces.
	since time.Time
}

// acts returns the last write of another operator since this one acts, and whether that operator still counts as alive.
func (o *otherOperator) acts(stack *stack, now time.Time) (metav1.ManagedFieldsEntry, bool) {
	o.mu.Lock()
	if o.since.IsZero() {
		o.since = now
	}
	since := o.since
	o.mu.Unlock()
	last := lastOtherWrite(stack)
	return last, last.Time != nil && last.Time.After(since) && now.Sub(last.Time.Time) < otherOperatorGone
}

// lastOtherWrite is the last write of another operator. Without a time: there was none.
func lastOtherWrite(stack *stack) metav1.ManagedFieldsEntry {
	var last metav1.ManagedFieldsEntry
	for _, entry := range OtherStatusWrites(stack.ManagedFields) {
		if version := stack.Status.Version; entry.FieldsV1 != nil && version != nil && entry.Time.Before(version.LastUpdated) {
			entry.Time = version.LastUpdated
		}
		if entry.Time != nil && (last.Time == nil || last.Time.Before(entry.Time)) {
			last = entry
		}
	}
	return last
}

// holdBack reports how long the stack is left alone because another operator acts on it. Zero: nobody else does. Not even
// the status is written meanwhile: the other operator would answer each write with one of its own. An event, the log and a
// metric tell instead.
func (r *Reconciler) holdBack(ctx context.Context, stack *stack) time.Duration {
	write, acts := r.other.acts(stack, r.now())
	metrics.ObserveOtherOperator(keyOf(stack), acts)
	if !acts {
		return 0
	}
	message := fmt.Sprintf("Another operator for v1alpha1 acts on this stack: field manager %q wrote its status at %s. This operator "+
		"writes nothing until that one has written nothing for %s. Remove the other installation",
		write.Manager, write.Time.UTC().Format(time.RFC3339), otherOperatorGone)
	r.recorder.Eventf(stack, nil, corev1.EventTypeWarning, v1alpha2.EventOtherOperator, eventAction, "%s", truncateMessage(message))
	log.FromContext(ctx).Info(message)
	return otherOperatorGone - r.now().Sub(write.Time.Time) + time.Second
}
