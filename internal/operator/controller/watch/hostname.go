package watch

import (
	"context"
	"slices"
	"strings"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
)

// hostnameSeparator separates the host names in the name of a group. No host name contains it.
const hostnameSeparator = ","

// byHostname requeues the stacks whose host name another stack starts or stops requesting or using.
func (s *Stacks) byHostname() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	requeue := func(q queue, object client.Object, hosts []string) {
		if len(hosts) > 0 {
			q.Add(group{groupHostnames, strings.Join(hosts, hostnameSeparator)}.request(object.GetNamespace()))
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e ctrlevent.CreateEvent, q queue) { requeue(q, e.Object, s.hosts.Of(e.Object)) },
		DeleteFunc: func(_ context.Context, e ctrlevent.DeleteEvent, q queue) { requeue(q, e.Object, s.hosts.Of(e.Object)) },
		UpdateFunc: func(_ context.Context, e ctrlevent.UpdateEvent, q queue) {
			moved := routeOf(e.ObjectOld) != routeOf(e.ObjectNew) || forbidden(e.ObjectOld) != forbidden(e.ObjectNew)
			if !moved && e.ObjectOld.GetGeneration() == e.ObjectNew.GetGeneration() {
				return
			}
			before, now := s.hosts.Of(e.ObjectOld), s.hosts.Of(e.ObjectNew)
			leaves := e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
			if moved || leaves || !slices.Equal(before, now) {
				requeue(q, e.ObjectNew, slices.Compact(slices.Concat(before, now)))
			}
		},
	}
}

// routeOf returns the external URL of a stack.
func routeOf(object client.Object) string {
	if stack, ok := object.(*v1alpha2.LlamaStackDistribution); ok {
		return stack.Status.RouteURL
	}
	return ""
}

// forbidden reports whether the bounds forbid the present spec of a stack.
func forbidden(object client.Object) bool {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	return ok && hostname.Forbidden(stack)
}
