package report

import (
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/lru"
)

const (
	// These are the numbers of events per second, and in a burst: in one namespace, and in all namespaces. client-go keeps
	// 2 KB of each event for up to twelve minutes.
	namespaceRate, namespaceBurst = 2, 1000
	totalRate, totalBurst         = 20, 5000
	// limitedNamespaces is the number of namespaces whose limiter is kept.
	limitedNamespaces = 1024
)

// limited drops the events that exceed the rates. The statuses of stacks contain what the events report.
type limited struct {
	events.EventRecorder

	total *rate.Limiter

	mu         sync.Mutex
	namespaces *lru.Cache // namespace → *rate.Limiter
}

// Limited returns a recorder that limits the number of events. A user who changes stacks again and again would
// otherwise fill the memory with events.
func Limited(recorder events.EventRecorder) events.EventRecorder {
	return &limited{
		EventRecorder: recorder, total: rate.NewLimiter(totalRate, totalBurst), namespaces: lru.New(limitedNamespaces),
	}
}

// Eventf records an event unless there are too many.
func (l *limited) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	object, err := meta.Accessor(regarding)
	if err == nil && l.of(object.GetNamespace()).Allow() && l.total.Allow() {
		l.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
	}
}

// of returns the limiter of a namespace.
func (l *limited) of(namespace string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.namespaces.Get(namespace); ok {
		return known.(*rate.Limiter)
	}
	created := rate.NewLimiter(namespaceRate, namespaceBurst)
	l.namespaces.Add(namespace, created)
	return created
}
