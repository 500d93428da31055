package controller

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// hostnameSeparator separates the host names in the name of a group. No host name contains it.
const hostnameSeparator = ","

// byHostname requeues the stacks whose host name another stack starts or stops requesting.
func (r *Reconciler) byHostname() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	requeue := func(q queue, object client.Object, hosts []string) {
		if len(hosts) > 0 {
			q.Add(group{groupHostnames, strings.Join(hosts, hostnameSeparator)}.request(object.GetNamespace()))
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e ctrlevent.CreateEvent, q queue) { requeue(q, e.Object, r.hostsOf(e.Object)) },
		DeleteFunc: func(_ context.Context, e ctrlevent.DeleteEvent, q queue) { requeue(q, e.Object, r.hostsOf(e.Object)) },
		UpdateFunc: func(_ context.Context, e ctrlevent.UpdateEvent, q queue) {
			if e.ObjectOld.GetGeneration() == e.ObjectNew.GetGeneration() {
				return
			}
			before, now := r.hostsOf(e.ObjectOld), r.hostsOf(e.ObjectNew)
			leaves := e.ObjectOld.GetDeletionTimestamp() == nil && e.ObjectNew.GetDeletionTimestamp() != nil
			if leaves || !slices.Equal(before, now) {
				requeue(q, e.ObjectNew, slices.Compact(slices.Concat(before, now)))
			}
		},
	}
}

// stacksWithHostnames returns requests for the stacks that request one of the host names, which have the form of the
// index by host name. It leaves out a stack that has the host name and shares it with no other stack.
func (r *Reconciler) stacksWithHostnames(ctx context.Context, hosts []string) ([]reconcile.Request, error) {
	config, _, err := r.config.get(ctx)
	if err != nil {
		return nil, err
	}
	cluster := render.Cluster{Ingress: render.Ingress(config.Ingress)}
	domain := cmp.Or(cluster.Ingress.Domain, names.DefaultDomain)
	var requests []reconcile.Request
	for _, host := range hosts {
		if label, generated := strings.CutSuffix(host, anyDomain); generated {
			host = label + domain
		}
		stacks, err := r.stacksOf(ctx, host, cluster)
		if err != nil {
			return nil, err
		}
		if len(stacks) == 1 && reachedBy(stacks[0], host) {
			continue
		}
		for _, stack := range stacks {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(stack)})
		}
	}
	return requests, nil
}
