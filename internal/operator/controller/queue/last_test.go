package queue

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestChildrenLast checks the order of requests: changes, then the objects that existed when the operator started, then
// new children. Another event for the stack of a new child moves the stack's request forward.
func TestChildrenLast(t *testing.T) {
	queue := priorityqueue.New[reconcile.Request]("test")
	defer queue.ShutDown()
	service := func(name, version string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
	}
	stacks := &handler.EnqueueRequestForObject{}
	children := ChildrenLast(stacks)
	for _, name := range []string{"made", "made-and-changed", "made-and-there"} {
		children.Create(t.Context(), ctrlevent.CreateEvent{Object: service(name, "1")}, queue)
	}
	children.Create(t.Context(), ctrlevent.CreateEvent{Object: service("made-before", "1"), IsInInitialList: true}, queue)
	stacks.Create(t.Context(), ctrlevent.CreateEvent{Object: service("made-and-there", "1"), IsInInitialList: true}, queue)
	children.Update(t.Context(), ctrlevent.UpdateEvent{
		ObjectOld: service("made-and-changed", "1"),
		ObjectNew: service("made-and-changed", "2"),
	}, queue)
	children.Delete(t.Context(), ctrlevent.DeleteEvent{Object: service("deleted", "1")}, queue)
	for _, want := range []struct {
		name     string
		priority int
	}{
		{"made-and-changed", 0},
		{"deleted", 0},
		{"made-and-there", handler.LowPriority},
		{"made", afterOthers},
		{"made-before", afterOthers},
	} {
		request, priority, _ := queue.GetWithPriority()
		if request.Name != want.name || priority != want.priority {
			t.Errorf("%s with priority %d, want %s with %d", request.Name, priority, want.name, want.priority)
		}
		queue.Done(request)
	}
}
