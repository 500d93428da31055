package controller

import (
	"context"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// copies counts the lists that copy the objects in a cache.
type copies struct {
	client.Reader
	lists, copying int
}

func (c *copies) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	c.lists++
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.UnsafeDisableDeepCopy == nil || !*asked.UnsafeDisableDeepCopy {
		c.copying++
	}
	return c.Reader.List(ctx, list, options...)
}

// TestPodsAreNotCopied checks that a reconcile reads pods and ReplicaSets, of which tenants can create thousands with
// the labels of a stack, in place.
func TestPodsAreNotCopied(t *testing.T) {
	object := &stack{ObjectMeta: metav1.ObjectMeta{Name: "my", Namespace: "ns"}}
	reader := &copies{Reader: fake.NewClientBuilder().Build()}
	r := &Reconciler{cache: reader, children: reader}
	if _, err := r.readWorkload(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if _, err := r.pods(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if _, err := tried(t.Context(), object, reader); err != nil {
		t.Fatal(err)
	}
	if reader.lists != 3 || reader.copying > 0 {
		t.Errorf("%d of %d lists copy the objects, want 0 of 3", reader.copying, reader.lists)
	}
}

// TestEventsAreLimited checks that all events about stacks pass the limit of package report.
func TestEventsAreLimited(t *testing.T) {
	object := &stack{ObjectMeta: metav1.ObjectMeta{Name: "my", Namespace: "ns", UID: "u"}}
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	direct := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build()
	object.Status.Conditions = status.Summarize(status.Input{}).Conditions
	synctest.Test(t, func(t *testing.T) { // the time does not pass
		told := events.NewFakeRecorder(10_000)
		r := newReconciler(direct, told, Options{Direct: direct}, nil)
		for range 3_000 {
			r.recorder.Eventf(object, nil, "Warning", "Reason", report.Action, "note")
		}
		happened := []report.Event{{Type: "Warning", Reason: "Reason", Note: "note"}}
		testutil.Must(t, r.writer.Write(t.Context(), object, &object.Status, happened))
		if got := len(told.Events); got != 1_000 {
			t.Errorf("%d events of one namespace at once, want 1000", got)
		}
	})
}
