package worker

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// Run processes the items in a queue with the given number of concurrent workers, until ctx ends. Each item is a stack
// or identifies work for a stack. Run calls the function `notify` for each item for which the function `handle` returns
// true.
func Run[T comparable](
	ctx context.Context, queue workqueue.TypedInterface[T], workers int,
	handle func(context.Context, T) (news bool), notify func(context.Context, T),
) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for task, ended := queue.Get(); !ended && ctx.Err() == nil; task, ended = queue.Get() {
				if handle(ctx, task) {
					notify(ctx, task)
				}
				queue.Done(task)
			}
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	group.Wait()
}
