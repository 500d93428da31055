package share

import (
	"slices"
	"sync"
	"time"

	"k8s.io/utils/lru"
)

const (
	// slowWork is the duration from which work makes its namespace slow for the time slowFor. All slow namespaces together
	// have half of the places. A user with several namespaces whose registries or servers never respond would otherwise
	// take every place.
	slowWork = 5 * time.Second
	slowFor  = 10 * time.Minute
	// rememberedSlow is the number of slow namespaces in memory.
	rememberedSlow = 4096
)

// turns orders waiting items. Namespaces take turns, and the items of one namespace keep their order. A namespace whose
// share is in use is left out until it returns a part of the share. turns is a queue for client-go's workqueue.
type turns[T comparable] struct {
	namespace func(T) string
	// total is the number of places, each is the share of a namespace, and reserved is the number of places for namespaces
	// that have none.
	total, each, reserved int

	mu      sync.Mutex
	waiting map[string][]T
	inUse   map[string]int
	// next lists the namespaces that have waiting items. The first one that can take a place has the next turn.
	next []string
	// slow contains the slow namespaces, and the time at which each of them was slow the last time. ended contains the
	// same for work that ended after the last Pop. Only Pop takes places away, so that an item for which Len returns 1
	// stays: for a worker, a queue without an item is one that shuts down.
	slow  *lru.Cache
	ended map[string]time.Time
}

func newTurns[T comparable](total, each, reserved int, namespace func(T) string) *turns[T] {
	return &turns[T]{
		namespace: namespace, total: total, each: each, reserved: reserved,
		waiting: map[string][]T{}, inUse: map[string]int{}, slow: lru.New(rememberedSlow), ended: map[string]time.Time{},
	}
}

// Touch does nothing, because an item that is added again keeps its place.
func (t *turns[T]) Touch(T) {}

// Push adds an item.
func (t *turns[T]) Push(item T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := t.namespace(item)
	t.waiting[namespace] = append(t.waiting[namespace], item)
	if len(t.waiting[namespace]) == 1 {
		t.next = append(t.next, namespace)
	}
}

// Len returns 1 if Pop can return an item now, and 0 otherwise.
func (t *turns[T]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return min(1, 1+slices.IndexFunc(t.next, t.allowed()))
}

// Pop takes the next item, and a part of the share of its namespace. The caller must check Len before it calls Pop.
func (t *turns[T]) Pop() T {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := t.next[slices.IndexFunc(t.next, t.allowed())]
	item := t.waiting[namespace][0]
	t.toEnd(namespace)
	t.drop(namespace, 0)
	t.inUse[namespace]++
	for slow, at := range t.ended {
		t.slow.Add(slow, at)
	}
	clear(t.ended)
	return item
}

// release returns the part of the share that Pop took for an item.
func (t *turns[T]) release(item T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := t.namespace(item)
	if t.inUse[namespace] == t.each { // others have waited while it used its share
		t.toEnd(namespace)
	}
	if t.inUse[namespace]--; t.inUse[namespace] == 0 {
		delete(t.inUse, namespace)
	}
}

// worked records how long work for a namespace took.
func (t *turns[T]) worked(namespace string, took time.Duration) {
	if took < slowWork {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[namespace] = time.Now()
}

// mayTake reports whether a namespace can take a place now.
func (t *turns[T]) mayTake(namespace string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.allowed()(namespace)
}

// allowed returns a function that reports whether a namespace can take a place, while the places do not change.
func (t *turns[T]) allowed() func(namespace string) bool {
	free, ofSlow := t.total, max(t.total/2, 1)
	for namespace, n := range t.inUse {
		if free -= n; t.isSlow(namespace) {
			ofSlow -= n
		}
	}
	return func(namespace string) bool {
		own := t.inUse[namespace]
		return own < t.each && (own == 0 || free > t.reserved) && (ofSlow > 0 || !t.isSlow(namespace))
	}
}

func (t *turns[T]) isSlow(namespace string) bool {
	last, ok := t.slow.Get(namespace)
	return ok && time.Since(last.(time.Time)) < slowFor
}

// remove removes a waiting item. It returns false if Pop has already returned the item.
func (t *turns[T]) remove(item T) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := t.namespace(item)
	at := slices.Index(t.waiting[namespace], item)
	if at < 0 {
		return false
	}
	t.drop(namespace, at)
	return true
}

func (t *turns[T]) drop(namespace string, at int) {
	t.waiting[namespace] = slices.Delete(t.waiting[namespace], at, at+1)
	if len(t.waiting[namespace]) == 0 {
		delete(t.waiting, namespace)
		t.next = slices.DeleteFunc(t.next, func(name string) bool { return name == namespace })
	}
}

// toEnd moves a namespace to the end of the order, if it has waiting items.
func (t *turns[T]) toEnd(namespace string) {
	if at := slices.Index(t.next, namespace); at >= 0 {
		t.next = append(slices.Delete(t.next, at, at+1), namespace)
	}
}
