package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/metrics"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
)

// otherOperatorGone is a duration. An operator for v1alpha1 counts as removed if it has not written a status for this
// long. Such an operator writes the status of each of its stacks at least every 5 minutes, even if the status has not
// changed.
const otherOperatorGone = 15 * time.Minute

// otherOperator detects an operator for v1alpha1 that manages the same stacks: an installation in another namespace,
// with its own lease. The two operators would revert each other's writes, so this operator pauses.
type otherOperator struct {
	mu sync.Mutex
	// since is the time of this operator's first reconcile. Earlier writes can be from the operator that this operator
	// replaces.
	since time.Time
}

// acts returns the last write of another operator, and reports whether the other operator counts as running. The other
// operator counts as running if its last write is recent, and later than the first reconcile of this operator.
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

// lastOtherWrite returns the last write of another operator. An entry without a time means that there is no such write.
func lastOtherWrite(stack *stack) metav1.ManagedFieldsEntry {
	var last metav1.ManagedFieldsEntry
	for _, entry := range stub.OtherStatusWrites(stack.ManagedFields) {
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

// holdBack returns the time during which this operator must not write to the stack, because another operator manages
// it. Zero means that there is no other operator. This operator does not write the status either, because the other
// operator would react to each write with another write. An event, the log and a metric report the other operator
// instead.
func (r *Reconciler) holdBack(ctx context.Context, stack *stack) time.Duration {
	write, acts := r.other.acts(stack, r.now())
	metrics.ObserveOtherOperator(keyOf(stack), acts)
	if !acts {
		return 0
	}
	message := fmt.Sprintf("An operator for v1alpha1 also manages this stack: field manager %q wrote the status of the "+
		"stack at %s. This operator will write to the stack again when the other operator has not written to the stack for "+
		"%s. Remove the other installation, but keep the CustomResourceDefinition",
		write.Manager, write.Time.UTC().Format(time.RFC3339), otherOperatorGone)
	r.recorder.Eventf(stack, nil, corev1.EventTypeWarning, v1alpha2.EventOtherOperator, report.Action, "%s",
		status.Note(message))
	log.FromContext(ctx).Info(message)
	return otherOperatorGone - r.now().Sub(write.Time.Time) + time.Second
}

// stillPause is the pause of a stack while another installation of this operator manages all stacks.
const stillPause = time.Minute

// standStill returns a pause if another installation of this operator manages the stacks, and zero otherwise.
func (r *Reconciler) standStill(ctx context.Context) (time.Duration, error) {
	if r.otherInstallation == nil {
		return 0, nil
	}
	if other, err := r.otherInstallation(ctx); other == "" || err != nil {
		return 0, err
	}
	return stillPause, nil
}
