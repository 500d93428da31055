package queue

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func requestFor(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

func testQueue(t *testing.T) *fair {
	t.Helper()
	return testQueueFor(t, 1)
}

func testQueueFor(t *testing.T, workers int) *fair {
	t.Helper()
	queue := NewFair(workers)("test", workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](0, 0)).(*fair)
	t.Cleanup(queue.ShutDown)
	return queue
}

// taken takes requests from the queue and returns their names. It marks each request as done before it takes the next
// one.
func taken(queue *fair, count int) []string {
	var order []string
	for range count {
		request, _ := queue.Get()
		order = append(order, request.String())
		queue.Done(request)
	}
	return order
}

const crowd = 200

// TestNamespacesTakeTurns checks that a new stack does not wait for the many stacks in another namespace, regardless of
// how the stacks were added, and that a second and a third new stack do not wait for them either.
func TestNamespacesTakeTurns(t *testing.T) {
	for name, add := range map[string]func(*fair, reconcile.Request){
		"without a priority": func(queue *fair, request reconcile.Request) { queue.Add(request) },
		"rate limited":       func(queue *fair, request reconcile.Request) { queue.AddRateLimited(request) },
		"with a priority": func(queue *fair, request reconcile.Request) {
			queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(0)}, request)
		},
	} {
		t.Run(name, func(t *testing.T) {
			queue := testQueue(t)
			for i := range crowd {
				add(queue, requestFor("crowd", fmt.Sprintf("stack-%03d", i)))
			}
			for _, stack := range []string{"first", "second", "third"} {
				add(queue, requestFor("few", stack))
			}
			order := taken(queue, crowd+3)
			for stack, before := range map[string]int{"few/first": 1, "few/second": 4, "few/third": 8} {
				if at := slices.Index(order, stack); at < 0 || at > before {
					t.Errorf("%s comes after %d others, want at most %d", stack, at, before)
				}
			}
			if len(queue.waiting) != 0 {
				t.Errorf("requests count as waiting although all were taken: %v", queue.waiting)
			}
		})
	}
}

// TestTurnsDoNotAccumulate checks that a request that is added again keeps its requested priority and gets a new turn,
// so that its priority never decreases.
func TestTurnsDoNotAccumulate(t *testing.T) {
	queue := testQueue(t)
	for i := range crowd {
		queue.Add(requestFor("crowd", fmt.Sprint(i)))
	}
	for range 3 * crowd {
		request, priority, _ := queue.GetWithPriority()
		if priority != 0 {
			t.Fatalf("%s has priority %d, want 0", request, priority)
		}
		queue.Done(request)
		queue.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: new(priority)}, request)
	}
	if waiting := len(queue.waiting["crowd"]); waiting != crowd {
		t.Errorf("%d requests wait, want %d", waiting, crowd)
	}
}

// TestClassesStayApart checks that, however many requests wait in a namespace, changes come before the objects that
// exist at the start, and these objects come before new children.
func TestClassesStayApart(t *testing.T) {
	queue := testQueue(t)
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(afterOthers)}, requestFor("few", "made"))
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, requestFor("few", "there"))
	for i := range crowd {
		queue.Add(requestFor("crowd", fmt.Sprint(i)))
	}
	order := taken(queue, crowd+2)
	if got := order[crowd:]; !slices.Equal(got, []string{"few/there", "few/made"}) {
		t.Errorf("the last requests are %v", got)
	}
	for _, class := range []int{0, handler.LowPriority, afterOthers} {
		for _, behind := range []int{0, 1, 31, 99} {
			if got := classOf(class - behind); got != class {
				t.Errorf("class of %d is %d, want %d", class-behind, got, class)
			}
		}
	}
}

// TestLaterDoesNotCount checks that requests that are due later do not delay other requests.
func TestLaterDoesNotCount(t *testing.T) {
	queue := testQueue(t)
	for i := range crowd {
		queue.AddAfter(requestFor("healthy", fmt.Sprint(i)), time.Hour)
	}
	queue.Add(requestFor("other", "stack"))
	queue.Add(requestFor("other", "second"))
	queue.Add(requestFor("healthy", "changed"))
	if got, want := taken(queue, 3), []string{"other/stack", "healthy/changed", "other/second"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestAWorkerStaysFree checks that the requests of one namespace never occupy all workers, however often each of them
// is added, and that they continue in their order when a worker becomes free.
func TestAWorkerStaysFree(t *testing.T) {
	queue := testQueueFor(t, 3)
	get := func() string {
		request, _ := queue.Get()
		return request.String()
	}
	queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, requestFor("crowd", "there"))
	for range 3 {
		for i := range 4 {
			queue.Add(requestFor("crowd", fmt.Sprint(i)))
		}
	}
	busy := []string{get(), get()}
	if want := []string{"crowd/0", "crowd/1"}; !slices.Equal(busy, want) {
		t.Fatalf("got %v, want %v", busy, want)
	}
	for _, calm := range []string{"a", "b"} {
		for i := range 4 {
			queue.Add(requestFor("crowd", fmt.Sprint(i)))
		}
		queue.AddWithOpts(priorityqueue.AddOpts{Priority: new(2 * handler.LowPriority)}, requestFor("calm", calm))
		if got := get(); got != "calm/"+calm {
			t.Errorf("got %s although the share of its namespace is in use", got)
		}
		queue.Done(requestFor("calm", calm))
	}
	if len(queue.parked) != 3 {
		t.Errorf("%d requests are parked, want 3: %v", len(queue.parked), queue.parked)
	}
	queue.Done(requestFor("crowd", "0"))
	queue.Done(requestFor("crowd", "1"))
	order := []string{}
	for range 5 {
		request, _ := queue.Get()
		order = append(order, request.Name)
		queue.Done(request)
	}
	slices.Sort(order[:4])
	if want := []string{"0", "1", "2", "3", "there"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if len(queue.parked)+len(queue.parkedOf)+len(queue.inUse)+len(queue.waiting) != 0 {
		t.Errorf("requests count as parked, in use or waiting although all were processed: %+v", queue)
	}
}
