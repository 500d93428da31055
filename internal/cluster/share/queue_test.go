package share_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/share"
)

func in(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func newQueue(workers, each int) *share.Queue[types.NamespacedName] {
	return share.NewQueue(workers, each, func(stack types.NamespacedName) string { return stack.Namespace })
}

// TestRun checks how many workers run concurrently, and that Run calls the function `notify` for stacks with changes.
// It also checks that Run does not process a stack after ctx ends.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := newQueue(2, 2)
		ctx, cancel := context.WithCancel(t.Context())
		release, ended := make(chan struct{}), make(chan struct{})
		var handled atomic.Int32
		told := make(chan string, 10)
		go func() {
			defer close(ended)
			queue.Run(ctx, func(_ context.Context, stack types.NamespacedName) bool {
				handled.Add(1)
				<-release
				return stack.Name != "quiet"
			}, func(_ context.Context, stack types.NamespacedName) { told <- stack.Name })
		}()
		for _, name := range []string{"a", "quiet", "b", "never"} {
			queue.Add(in("", name))
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

// TestQueueShares checks that a namespace with endless work uses only its share of the workers, that other namespaces
// get the rest, and that a worker that becomes free continues with a namespace that had used all of its share.
func TestQueueShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := newQueue(4, 2)
		ctx, cancel := context.WithCancel(t.Context())
		release, handled := make(chan struct{}), make(chan string, 20)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			queue.Run(ctx, func(_ context.Context, stack types.NamespacedName) bool {
				handled <- stack.String()
				if stack.Namespace == "loud" {
					<-release
				}
				return false
			}, nil)
		}()
		for i := range 5 {
			queue.Add(in("loud", fmt.Sprint(i)))
		}
		synctest.Wait()
		if got := len(handled); got != 2 {
			t.Errorf("%d stacks of one namespace are handled at the same time, want 2", got)
		}
		queue.Add(in("calm", "a"))
		synctest.Wait()
		if got := len(handled); got != 3 {
			t.Errorf("the other namespace waits: %d stacks are handled, want 3", got)
		}
		for range 5 {
			release <- struct{}{}
			synctest.Wait()
		}
		if got := len(handled); got != 6 {
			t.Errorf("%d stacks were handled, want all 6", got)
		}
		cancel()
		<-ended
	})
}

// TestQueueTurns checks that namespaces take turns, and that the stacks of each namespace keep their order.
func TestQueueTurns(t *testing.T) {
	queue := newQueue(1, 1)
	defer queue.ShutDown()
	for i := range 3 {
		queue.Add(in("loud", fmt.Sprint(i)))
	}
	queue.Add(in("calm", "a"))
	queue.Add(in("late", "a"))
	queue.Add(in("calm", "b"))
	var order []string
	for range 6 {
		stack, _ := queue.Get()
		order = append(order, stack.String())
		queue.Done(stack)
	}
	want := []string{"loud/0", "calm/a", "late/a", "loud/1", "calm/b", "loud/2"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
