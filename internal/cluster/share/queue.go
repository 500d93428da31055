package share

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// Queue holds items that wait for one of several workers. Each item identifies work for a stack. A namespace uses at
// most its share of the workers.
type Queue[T comparable] struct {
	workqueue.TypedDelayingInterface[T]
	turns   *turns[T]
	workers int
}

// NewQueue returns a queue for a number of workers. The parameter each is the share of a namespace. The function
// `namespace` returns the namespace of an item. The last quarter of the workers is for namespaces that have none, and
// all namespaces with slow work together have half of the workers.
func NewQueue[T comparable](workers, each int, namespace func(T) string) *Queue[T] {
	order := newTurns(workers, each, workers/4, namespace)
	base := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Queue: order})
	return &Queue[T]{
		TypedDelayingInterface: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[T]{Queue: base}),
		turns:                  order, workers: workers,
	}
}

// Done ends the work on an item. The caller must call Get afterward, because the namespace of the item may have waiting
// items, and Done does not wake other workers for them.
func (q *Queue[T]) Done(item T) {
	q.turns.release(item)
	q.TypedDelayingInterface.Done(item)
}

// MayTake reports whether a worker can handle an item of a namespace now.
func (q *Queue[T]) MayTake(namespace string) bool { return q.turns.mayTake(namespace) }

// Run processes the items with the queue's number of workers, until ctx ends. Run calls the function `notify` for each
// item for which the function `handle` returns true.
func (q *Queue[T]) Run(
	ctx context.Context, handle func(context.Context, T) (news bool), notify func(context.Context, T),
) {
	var group sync.WaitGroup
	for range q.workers {
		group.Go(func() {
			for task, ended := q.Get(); !ended && ctx.Err() == nil; task, ended = q.Get() {
				began := time.Now()
				news := handle(ctx, task)
				q.turns.worked(q.turns.namespace(task), time.Since(began))
				if news {
					notify(ctx, task)
				}
				q.Done(task)
			}
		})
	}
	<-ctx.Done()
	q.ShutDown()
	group.Wait()
}
