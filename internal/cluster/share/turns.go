package share

import (
	"slices"
	"sync"
)

// turns orders waiting items. Namespaces take turns, and the items of one namespace keep their order. A namespace whose
// share is in use is left out until it returns a part of the share. turns is a queue for client-go's workqueue.
type turns[T comparable] struct {
	namespace func(T) string
	// each is the share of a namespace.
	each int

	mu      sync.Mutex
	waiting map[string][]T
	inUse   map[string]int
	// next lists the namespaces that have waiting items and an unused part of their share. The first one has the next
	// turn.
	next []string
}

func newTurns[T comparable](each int, namespace func(T) string) *turns[T] {
	return &turns[T]{namespace: namespace, each: each, waiting: map[string][]T{}, inUse: map[string]int{}}
}

// Touch does nothing, because an item that is added again keeps its place.
func (t *turns[T]) Touch(T) {}

// Push adds an item.
func (t *turns[T]) Push(item T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := t.namespace(item)
	t.waiting[namespace] = append(t.waiting[namespace], item)
	if len(t.waiting[namespace]) == 1 && t.inUse[namespace] < t.each {
		t.next = append(t.next, namespace)
	}
}

// Len returns the number of namespaces for which Pop can return an item now.
func (t *turns[T]) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.next)
}

// Pop takes the next item, and a part of the share of its namespace. The caller must check Len before it calls Pop.
func (t *turns[T]) Pop() T {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := t.next[0]
	t.next = t.next[1:]
	item := t.waiting[namespace][0]
	t.drop(namespace, 0)
	if t.inUse[namespace]++; len(t.waiting[namespace]) > 0 && t.inUse[namespace] < t.each {
		t.next = append(t.next, namespace)
	}
	return item
}

// release returns the part of the share that Pop took for an item.
func (t *turns[T]) release(item T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	namespace := t.namespace(item)
	if t.inUse[namespace]--; t.inUse[namespace] == 0 {
		delete(t.inUse, namespace)
	}
	if len(t.waiting[namespace]) > 0 && t.inUse[namespace] == t.each-1 {
		t.next = append(t.next, namespace)
	}
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
	if len(t.waiting[namespace]) == 0 {
		t.next = slices.DeleteFunc(t.next, func(name string) bool { return name == namespace })
	}
	return true
}

func (t *turns[T]) drop(namespace string, at int) {
	t.waiting[namespace] = slices.Delete(t.waiting[namespace], at, at+1)
	if len(t.waiting[namespace]) == 0 {
		delete(t.waiting, namespace)
	}
}
