package report

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/metrics"
)

// Writer writes the statuses of stacks, and emits the events. It remembers the statuses that the cache might not
// contain yet. Otherwise, a comparison with an older status would cause the same write again. A status can be long, and
// often no reconcile follows its write, so the writer remembers only the last ones.
type Writer struct {
	direct   client.Client
	recorder events.EventRecorder
	written  *lru.Cache // types.NamespacedName → *v1alpha2.LlamaStackDistribution
}

// rememberedStatuses is the number of statuses that a Writer remembers. The cache contains a write after a moment.
const rememberedStatuses = 256

// NewWriter returns a writer with a client that bypasses the caches.
func NewWriter(direct client.Client, recorder events.EventRecorder) *Writer {
	return &Writer{direct: direct, recorder: recorder, written: lru.New(rememberedStatuses)}
}

// Write writes the status of a stack, and emits the given events and those about the changes to the previous status. It
// writes nothing if the stack no longer exists.
func (w *Writer) Write(
	ctx context.Context, stack *v1alpha2.LlamaStackDistribution, previous *v1alpha2.LlamaStackDistributionStatus,
	events []Event,
) error {
	written := stack.DeepCopy()
	err := w.direct.Status().Patch(ctx, written, statusPatch{}, client.FieldOwner(names.FieldManager))
	if apierrors.IsInvalid(err) {
		gone, readErr := w.isGone(ctx, stack)
		if readErr != nil || gone {
			return readErr
		}
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write status: %w", err)
	}
	if err == nil {
		w.remember(written)
		w.emit(stack, events, previous)
		metrics.CountChange(stack, previous)
	}
	return nil
}

func (w *Writer) remember(written *v1alpha2.LlamaStackDistribution) {
	kept := &v1alpha2.LlamaStackDistribution{}
	kept.UID, kept.ResourceVersion = written.UID, written.ResourceVersion
	written.Status.DeepCopyInto(&kept.Status)
	w.written.Add(client.ObjectKeyFromObject(written), kept)
}

// Refresh replaces the status of a cached object with the last written status if the object is older than that write.
func (w *Writer) Refresh(cached *v1alpha2.LlamaStackDistribution) {
	key := client.ObjectKeyFromObject(cached)
	known, ok := w.written.Get(key)
	if !ok {
		return
	}
	written := known.(*v1alpha2.LlamaStackDistribution)
	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, written.ResourceVersion)
	if err != nil || order >= 0 || cached.UID != written.UID {
		w.written.Remove(key)
		return
	}
	written.Status.DeepCopyInto(&cached.Status)
}

// Forget drops what is remembered about a deleted stack.
func (w *Writer) Forget(name types.NamespacedName) { w.written.Remove(name) }

// isGone reports whether the stack no longer exists, or was replaced by another stack with the same name.
func (w *Writer) isGone(ctx context.Context, stack *v1alpha2.LlamaStackDistribution) (bool, error) {
	now := &v1alpha2.LlamaStackDistribution{}
	err := w.direct.Get(ctx, client.ObjectKeyFromObject(stack), now)
	switch {
	case apierrors.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("read the stack from the API server: %w", err)
	default:
		return now.UID != stack.UID, nil
	}
}

// statusPatch replaces the status of a stack. It replaces the whole status, because no other client is allowed to write
// it. The patch tests the UID, so that it fails for a new stack with the same name. A merge patch cannot test the UID,
// because the API server ignores the metadata in a patch of a status.
type statusPatch struct{}

// Type returns the type of JSON patches.
func (statusPatch) Type() types.PatchType { return types.JSONPatchType }

// Data returns the patch.
func (statusPatch) Data(object client.Object) ([]byte, error) {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	if !ok {
		return nil, fmt.Errorf("create a status patch: object has type %T, want a LlamaStackDistribution", object)
	}
	return json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": stack.UID},
		{"op": "add", "path": "/status", "value": stack.Status},
	})
}
