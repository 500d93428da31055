package worker_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/llamastack/llama-stack-k8s-operator/internal/worker"
)

// TestRun checks how many workers run concurrently, and that Run calls the function `notify` for stacks with changes.
// It also checks that Run does not process a stack after ctx ends.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTyped[types.NamespacedName]()
		ctx, cancel := context.WithCancel(t.Context())
		release, ended := make(chan struct{}), make(chan struct{})
		var handled atomic.Int32
		told := make(chan string, 10)
		go func() {
			defer close(ended)
			worker.Run(ctx, queue, 2, func(_ context.Context, stack types.NamespacedName) bool {
				handled.Add(1)
				<-release
				return stack.Name != "quiet"
			}, func(_ context.Context, stack types.NamespacedName) { told <- stack.Name })
		}()
		for _, name := range []string{"a", "quiet", "b", "never"} {
			queue.Add(types.NamespacedName{Name: name})
		}
		synctest.Wait()
		if got := handled.Load(); got != 2 {
			t.Errorf("%d items were handled at the same time, want 2", got)
		}
		release <- struct{}{}
		synctest.Wait()
		cancel()
		release <- struct{}{}
		release <- struct{}{}
		<-ended
		if got := handled.Load(); got != 3 {
			t.Errorf("%d items were handled, want 3, and none after the end", got)
		}
		close(told)
		names := []string{}
		for name := range told {
			names = append(names, name)
		}
		if slices.Sort(names); !slices.Equal(names, []string{"a", "b"}) {
			t.Errorf("notified %v, want a and b", names)
		}
	})
}
