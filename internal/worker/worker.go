package worker

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
)

// Run handles the stacks of a queue, or other things that are to be done for stacks, so many at a time, until ctx ends. It
// calls notify for each of which handle reports news.
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
