package worker

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// Queue holds the stacks that are to be handled.
type Queue = workqueue.TypedInterface[types.NamespacedName]

// Run handles the stacks of a queue, so many at a time, until ctx ends. It calls notify for
// each stack of which handle reports news.
func Run(
	ctx context.Context, queue Queue, workers int,
	handle func(context.Context, types.NamespacedName) (news bool), notify func(context.Context, types.NamespacedName),
) {
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for stack, ended := queue.Get(); !ended && ctx.Err() == nil; stack, ended = queue.Get() {
				if handle(ctx, stack) {
					notify(ctx, stack)
				}
				queue.Done(stack)
			}
		})
	}
	<-ctx.Done()
	queue.ShutDown()
	group.Wait()
}
