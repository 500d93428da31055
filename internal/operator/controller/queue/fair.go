package queue

import (
	"maps"
	"math/bits"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fair prefers the stacks of namespaces in which few stacks are waiting. Without this preference, all stacks of other
// tenants would wait until the many stacks of one tenant are processed.
//
// The priority of a request is its requested priority minus the number of binary digits in the number of other waiting
// requests in its namespace. Requested priorities are multiples of handler.LowPriority. Requests with the same
// requested priority form a class, and every request of a class precedes the requests of the next lower class. There
// are only a few different priorities, because they are label values in the metrics.
type fair struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	// share is the maximum number of requests of one namespace that are processed at the same time.
	share int

	mu sync.Mutex
	// inUse is the number of requests that are being processed, by namespace.
	inUse map[string]int
	// parked holds the requests that were taken while the share of their namespace was in use. parkedOf lists them by
	// namespace and class. It can also contain requests that are no longer parked.
	parked   map[reconcile.Request]bool
	parkedOf map[string]map[int][]reconcile.Request
	// waiting holds, by namespace, the requests that were added and have not been taken yet, except requests that AddAfter
	// has delayed.
	waiting map[string]map[reconcile.Request]bool
}

// NewFair returns a function that creates the queue of a controller with a number of workers. One worker is always free
// for other namespaces than the one with the most requests, unless there is only one worker.
func NewFair(workers int) func(
	string, workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(
		name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
	) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		return &fair{
			PriorityQueue: priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }),
			share:         max(workers-1, 1),
			inUse:         map[string]int{}, parked: map[reconcile.Request]bool{},
			parkedOf: map[string]map[int][]reconcile.Request{}, waiting: map[string]map[reconcile.Request]bool{},
		}
	}
}

// AddWithOpts adds requests, with priorities that depend on their namespaces.
func (q *fair) AddWithOpts(options priorityqueue.AddOpts, requests ...reconcile.Request) {
	class := 0
	if options.Priority != nil {
		class = *options.Priority
	}
	for _, request := range requests {
		turn := options
		turn.Priority = new(class - q.behind(request, options.After > 0 && !options.RateLimited))
		q.PriorityQueue.AddWithOpts(turn, request)
	}
}

// behind records that a request is waiting, unless the request is due later, and returns the amount by which its
// priority is lowered within its class.
func (q *fair) behind(request reconcile.Request, later bool) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := q.waiting[request.Namespace]
	others := len(waiting)
	if waiting[request] {
		others--
	} else if !later {
		if waiting == nil {
			waiting = map[reconcile.Request]bool{}
			q.waiting[request.Namespace] = waiting
		}
		waiting[request] = true
	}
	return min(bits.Len(uint(others)), -handler.LowPriority-1)
}

// taken records that a request is no longer waiting. The caller holds the lock.
func (q *fair) taken(request reconcile.Request) {
	delete(q.waiting[request.Namespace], request)
	if len(q.waiting[request.Namespace]) == 0 {
		delete(q.waiting, request.Namespace)
	}
}

// Add adds a request.
func (q *fair) Add(request reconcile.Request) { q.AddWithOpts(priorityqueue.AddOpts{}, request) }

// AddAfter adds a request that is due later.
func (q *fair) AddAfter(request reconcile.Request, after time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: after}, request)
}

// AddRateLimited adds a request that is due when the rate limiter allows it.
func (q *fair) AddRateLimited(request reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, request)
}

// Get takes a request.
func (q *fair) Get() (request reconcile.Request, shutdown bool) {
	request, _, shutdown = q.GetWithPriority()
	return request, shutdown
}

// GetWithPriority takes a request. It returns the requested priority, because AddWithOpts lowers the priority of a
// request again if the caller adds the request again. It parks requests of namespaces whose share is in use.
func (q *fair) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	for {
		request, priority, shutdown = q.PriorityQueue.GetWithPriority()
		priority = classOf(priority)
		if shutdown || q.begin(request, priority) {
			return request, priority, shutdown
		}
		q.PriorityQueue.Done(request)
	}
}

// begin records that a request is being processed. If the share of its namespace is in use, it parks the request and
// returns false.
func (q *fair) begin(request reconcile.Request, class int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.inUse[request.Namespace] < q.share {
		q.taken(request)
		delete(q.parked, request)
		q.inUse[request.Namespace]++
		return true
	}
	if q.parked[request] {
		return false
	}
	classes := q.parkedOf[request.Namespace]
	if classes == nil {
		classes = map[int][]reconcile.Request{}
		q.parkedOf[request.Namespace] = classes
	}
	q.parked[request], classes[class] = true, append(classes[class], request)
	return false
}

// Done ends the processing of a request, and adds a parked request of its namespace again.
func (q *fair) Done(request reconcile.Request) {
	parked, class, ok := q.end(request)
	q.PriorityQueue.Done(request)
	if ok {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(class)}, parked)
	}
}

// end records that the processing of a request has ended. It returns the parked request of its namespace that comes
// first, and the class of that request.
func (q *fair) end(request reconcile.Request) (parked reconcile.Request, class int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	namespace := request.Namespace
	if q.inUse[namespace]--; q.inUse[namespace] == 0 {
		delete(q.inUse, namespace)
	}
	for classes := q.parkedOf[namespace]; len(classes) > 0 && !ok; {
		class = slices.Max(slices.Collect(maps.Keys(classes)))
		parked, classes[class] = classes[class][0], classes[class][1:]
		if len(classes[class]) == 0 {
			delete(classes, class)
		}
		ok = q.parked[parked]
		delete(q.parked, parked)
	}
	if len(q.parkedOf[namespace]) == 0 {
		delete(q.parkedOf, namespace)
	}
	return parked, class, ok
}

// classOf returns the priority with which a request was added. It rounds the priority in the queue up to a multiple of
// handler.LowPriority. It does not change a positive priority.
func classOf(priority int) int {
	if priority > 0 {
		return priority
	}
	return priority / handler.LowPriority * handler.LowPriority
}
