package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestOtherOperator checks that this operator does not write to a stack that an operator for v1alpha1 manages, or to
// its status, until 15 minutes after the last write of that operator. Writes from before the start of this operator are
// ignored.
func TestOtherOperator(t *testing.T) {
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	write := func(after time.Duration) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: "manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "llamastack.io/v1alpha1",
			Subresource: "status", Time: &metav1.Time{Time: began.Add(after)},
		}
	}
	updating := write(time.Minute)
	updating.FieldsV1 = metav1.NewFieldsV1(`{"f:status":{"f:phase":{},"f:version":{".":{},"f:lastUpdated":{}}}}`)
	edited := write(time.Minute)
	edited.Subresource = ""
	ours := write(time.Minute)
	ours.Manager = names.FieldManager
	newer := write(time.Minute)
	newer.APIVersion = v1alpha2.GroupVersion.String()
	for name, tc := range map[string]otherOperatorCase{
		"no entry":                      {},
		"a write from before the start": {entries: []metav1.ManagedFieldsEntry{write(-time.Second)}, after: time.Second},
		"a recent write": {
			entries: []metav1.ManagedFieldsEntry{write(time.Minute)}, after: 2 * time.Minute,
			pause: 14*time.Minute + time.Second,
		},
		"the later of two writes": {
			entries: []metav1.ManagedFieldsEntry{write(time.Minute), write(-time.Minute)},
			after:   time.Minute, pause: 15*time.Minute + time.Second,
		},
		"an old write": {entries: []metav1.ManagedFieldsEntry{write(time.Minute)}, after: 16 * time.Minute},
		"a recent write of the same fields": {
			entries: []metav1.ManagedFieldsEntry{updating}, updated: 16 * time.Minute,
			after: 17 * time.Minute, pause: 14*time.Minute + time.Second,
		},
		"an old write of the same fields": {
			entries: []metav1.ManagedFieldsEntry{updating}, updated: 16 * time.Minute,
			after: 32 * time.Minute,
		},
		"a version update by this operator": {
			entries: []metav1.ManagedFieldsEntry{write(time.Minute)},
			updated: 16 * time.Minute, after: 17 * time.Minute,
		},
		"an edit of the spec":               {entries: []metav1.ManagedFieldsEntry{edited}, after: 2 * time.Minute},
		"a write by this operator":          {entries: []metav1.ManagedFieldsEntry{ours}, after: 2 * time.Minute},
		"an edit of the status in v1alpha2": {entries: []metav1.ManagedFieldsEntry{newer}, after: 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) { checkOtherOperator(t, tc, began) })
	}
}

// otherOperatorCase is a row of TestOtherOperator.
type otherOperatorCase struct {
	entries []metav1.ManagedFieldsEntry
	updated time.Duration // status.version.lastUpdated
	after   time.Duration
	pause   time.Duration
}

// checkOtherOperator reconciles a stack with the managed fields of a row, and checks whether this operator writes to
// it.
func checkOtherOperator(t *testing.T, tc otherOperatorCase, began time.Time) {
	own := testutil.NewStack(t, `{distribution: {name: starter}}`)
	f := newFixture(t)
	f.now = func() time.Time { return began }
	if pause := f.holdBack(t.Context(), own); pause != 0 {
		t.Fatalf("the stack is held back for %v at the start", pause)
	}
	testutil.Must(t, f.Create(t.Context(), own))
	own.ManagedFields = tc.entries
	if tc.updated != 0 {
		own.Status.Version = &v1alpha2.VersionStatus{LastUpdated: &metav1.Time{Time: began.Add(tc.updated)}}
	}
	f.cache, f.writes = singleStackReader{f.Client, own}, nil
	f.now = func() time.Time { return began.Add(tc.after) }
	got, err := f.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(own)})
	testutil.Must(t, err)
	if tc.pause == 0 {
		if len(f.writes) == 0 {
			t.Error("the stack is not reconciled")
		}
		return
	}
	if got.RequeueAfter != tc.pause || len(f.writes) > 0 || len(f.recorder.Events) != 1 {
		t.Fatalf("requeued after %v, want %v; writes %v, %d events", got.RequeueAfter, tc.pause, f.writes, len(f.recorder.Events))
	}
	if event := <-f.recorder.Events; !strings.HasPrefix(event, "Warning "+v1alpha2.EventOtherOperator+" An operator for v1alpha1 also manages") || !strings.Contains(event, `field manager "manager"`) {
		t.Errorf("event %q", event)
	}
}

// TestOtherInstallation checks that the controller writes nothing while another installation of the operator manages
// the stacks, and continues afterwards.
func TestOtherInstallation(t *testing.T) {
	own, other := testutil.NewStack(t, `{distribution: {name: starter}}`), "elsewhere"
	f := newFixture(t)
	f.otherInstallation = func(context.Context) (string, error) { return other, nil }
	testutil.Must(t, f.Create(t.Context(), own))
	f.writes = nil
	request := reconcile.Request{NamespacedName: keyOf(own)}
	got, err := f.Reconcile(t.Context(), request)
	if err != nil || got.RequeueAfter != stillPause || len(f.writes) > 0 {
		t.Errorf("requeued after %v, want %v; writes %v; error %v", got.RequeueAfter, stillPause, f.writes, err)
	}
	other = ""
	if _, err := f.Reconcile(t.Context(), request); err != nil || len(f.writes) == 0 {
		t.Errorf("the stack is not reconciled: %v", err)
	}
}

// singleStackReader is a cache that returns one stack with its managed fields, as the API server does. A fake client
// would not return them unchanged.
type singleStackReader struct {
	client.Reader
	stack *stack
}

// Get returns the stack, and other objects from the reader.
func (h singleStackReader) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if into, ok := object.(*stack); ok {
		h.stack.DeepCopyInto(into)
		return nil
	}
	return h.Reader.Get(ctx, key, object, options...)
}
