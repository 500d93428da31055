package queue

import (
	"math/bits"
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

	mu sync.Mutex
	// waiting holds, by namespace, the requests that were added and have not been taken yet, except requests that AddAfter
	// has delayed.
	waiting map[string]map[reconcile.Request]bool
}

// NewFair returns the queue of a controller.
func NewFair(
	name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return &fair{
		PriorityQueue: priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }),
		waiting:       map[string]map[reconcile.Request]bool{},
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

// taken records that a request is no longer waiting.
func (q *fair) taken(request reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
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
// request again if the caller adds the request again.
func (q *fair) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	request, priority, shutdown = q.PriorityQueue.GetWithPriority()
	q.taken(request)
	return request, classOf(priority), shutdown
}

// classOf returns the priority with which a request was added. It rounds the priority in the queue up to a multiple of
// handler.LowPriority. It does not change a positive priority.
func classOf(priority int) int {
	if priority > 0 {
		return priority
	}
	return priority / handler.LowPriority * handler.LowPriority
}
