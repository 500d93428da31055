package controller

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
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
			moved := routeOf(e.ObjectOld) != routeOf(e.ObjectNew) || forbidden(e.ObjectOld) != forbidden(e.ObjectNew)
			if !moved && e.ObjectOld.GetGeneration() == e.ObjectNew.GetGeneration() {
				return
			}
			before, now := r.hostsOf(e.ObjectOld), r.hostsOf(e.ObjectNew)
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

// stacksWithHostnames returns requests for the stacks that use or request one of the host names, which have the form of
// the index by host name. It leaves out the stacks whose status already shows who owns the host name. Otherwise, every
// stack that a tenant adds would result in a reconcile of all its stacks with the same host name.
func (r *Reconciler) stacksWithHostnames(ctx context.Context, hosts []string) ([]reconcile.Request, error) {
	config, _, err := r.config.get(ctx)
	if err != nil {
		return nil, err
	}
	cluster := r.exposing(config)
	names, err := r.hostNames(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var requests []reconcile.Request
	for _, host := range hosts {
		if label, generated := strings.CutSuffix(host, anyDomain); generated {
			host = label + hostname.Domain(cluster)
		} else if host == noHost {
			host = ""
		}
		stacks, err := names.Stacks(host)
		if err != nil {
			return nil, err
		}
		claims, err := names.Claims(host, stacks)
		if err != nil {
			return nil, err
		}
		owner := hostname.First(claims)
		for _, one := range claims {
			if !knowsOwner(one, owner, host) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(one.Stack)})
			}
		}
	}
	return requests, nil
}

// knowsOwner reports whether the status of a stack shows who owns its host name, so that a reconcile changes nothing.
// If a reconcile that has not ended yet exposes the stack, the change to the status results in another request.
func knowsOwner(one, owner hostname.Claim, host string) bool {
	if one.Holds || one.Stack == owner.Stack {
		return one.Holds && one.Stack == owner.Stack
	}
	exposed := meta.FindStatusCondition(one.Stack.Status.Conditions, v1alpha2.ConditionExposed)
	taken := hostname.Owner{Host: host, Namespace: owner.Stack.Namespace, Name: owner.Stack.Name}
	return exposed != nil && exposed.Reason == v1alpha2.ReasonHostnameTaken && exposed.Message == taken.Message(one.Stack)
}
