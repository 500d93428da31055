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

// otherOperatorGone is how long an operator for v1alpha1 must have written no status to count as gone. It writes the
// status of each of its stacks at least every 5 minutes, even if nothing changed.
const otherOperatorGone = 15 * time.Minute

// OtherStatusWrites filters the managed fields of a stack for those that show when another operator wrote its status.
// Only operators for v1alpha1 write a status in that version. An entry keeps at most the field
// status.version.lastUpdated: the time of an entry changes only when its fields change, and that field changes with
// each write.
func OtherStatusWrites(entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	var writes []metav1.ManagedFieldsEntry
	for _, entry := range entries {
		if entry.Subresource == "status" && entry.APIVersion == v1alpha1.GroupVersion.String() &&
			entry.Manager != names.FieldManager {
			entry.FieldsV1 = ownsLastUpdated(entry.FieldsV1)
			writes = append(writes, entry)
		}
	}
	return writes
}

// ownsLastUpdated returns the field status.version.lastUpdated alone if it is among the fields, and nil otherwise.
func ownsLastUpdated(fields *metav1.FieldsV1) *metav1.FieldsV1 {
	if fields == nil || !strings.Contains(fields.GetRawString(), `"f:lastUpdated"`) {
		return nil
	}
	return metav1.NewFieldsV1(`{"f:status":{"f:version":{"f:lastUpdated":{}}}}`)
}

// otherOperator detects an operator for v1alpha1 that acts on the same stacks: another installation in another
// namespace, with its own lease. Each of the two would undo the other's writes, so this operator pauses.
type otherOperator struct {
	mu sync.Mutex
	// since is when this operator began to act. Earlier writes are those of the operator that it replaces.
	since time.Time
}

// acts returns the last write of another operator since this one began to act, and reports whether that operator still
// counts as running.
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

// lastOtherWrite returns the last write of another operator. An entry without a time means that there was none.
func lastOtherWrite(stack *stack) metav1.ManagedFieldsEntry {
	var last metav1.ManagedFieldsEntry
	for _, entry := range OtherStatusWrites(stack.ManagedFields) {
		if version := stack.Status.Version; entry.FieldsV1 != nil && version != nil &&
			entry.Time.Before(version.LastUpdated) {
			entry.Time = version.LastUpdated
		}
		if entry.Time != nil && (last.Time == nil || last.Time.Before(entry.Time)) {
			last = entry
		}
	}
	return last
}

// holdBack returns how long the stack is left alone because another operator acts on it. Zero means that there is no
// other operator. During that time, not even the status is written, because the other operator would answer each write
// with one of its own. An event, the log and a metric report the situation instead.
func (r *Reconciler) holdBack(ctx context.Context, stack *stack) time.Duration {
	write, acts := r.other.acts(stack, r.now())
	metrics.ObserveOtherOperator(keyOf(stack), acts)
	if !acts {
		return 0
	}
	message := fmt.Sprintf("Another operator for v1alpha1 acts on this stack: field manager %q wrote its status at %s. This operator "+
		"writes nothing until the other one has written nothing for %s. Remove the other installation",
		write.Manager, write.Time.UTC().Format(time.RFC3339), otherOperatorGone)
	r.recorder.Eventf(stack, nil, corev1.EventTypeWarning, v1alpha2.EventOtherOperator, eventAction, "%s",
		truncateMessage(message))
	log.FromContext(ctx).Info(message)
	return otherOperatorGone - r.now().Sub(write.Time.Time) + time.Second
}
