package queue

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// afterOthers is the priority of a look at what was just made: below that of
// everything that is there when the operator starts, which has handler.LowPriority.
const afterOthers = 2 * handler.LowPriority

// ChildrenLast makes a child that appears wait for stacks that have no children
// yet: nearly always it is one that we made, and there is little to do about it.
func ChildrenLast(enqueue handler.EventHandler) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			if prioritized, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
				queue = lastQueue{prioritized}
			}
			enqueue.Create(ctx, e, queue)
		},
		UpdateFunc: enqueue.Update, DeleteFunc: enqueue.Delete, GenericFunc: enqueue.Generic,
	}
}

// lastQueue adds to a queue what is to come after everything else.
type lastQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
}

// AddWithOpts adds requests, with the last priority whatever the options say.
func (q lastQueue) AddWithOpts(options priorityqueue.AddOpts, requests ...reconcile.Request) {
	options.Priority = new(afterOthers)
	q.PriorityQueue.AddWithOpts(options, requests...)
}

// Add adds a request.
func (q lastQueue) Add(request reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, request) }
