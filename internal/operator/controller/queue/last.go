package queue

import (
	"context"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// afterOthers is the priority of a request for a new child. It is below handler.LowPriority, the priority of requests
// for objects that exist when the operator starts.
const afterOthers = 2 * handler.LowPriority

// ChildrenLast lowers the priority of requests for new children, so that stacks without children come first. The
// operator itself created almost every new child, so such a request requires little work.
func ChildrenLast(enqueue handler.EventHandler) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent,
			queue workqueue.TypedRateLimitingInterface[reconcile.Request],
		) {
			if prioritized, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
				queue = lastQueue{prioritized}
			}
			enqueue.Create(ctx, e, queue)
		},
		UpdateFunc: enqueue.Update, DeleteFunc: enqueue.Delete, GenericFunc: enqueue.Generic,
	}
}

// lastQueue adds requests to a queue with the priority afterOthers.
type lastQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
}

// AddWithOpts adds requests, always with the priority afterOthers.
func (q lastQueue) AddWithOpts(options priorityqueue.AddOpts, requests ...reconcile.Request) {
	options.Priority = new(afterOthers)
	q.PriorityQueue.AddWithOpts(options, requests...)
}

// Add adds a request.
func (q lastQueue) Add(request reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, request) }
