package controller

import (
	"cmp"
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
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
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
			moved := routeOf(e.ObjectOld) != routeOf(e.ObjectNew)
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

// stacksWithHostnames returns requests for the stacks that request one of the host names, which have the form of the
// index by host name. It leaves out the stacks whose status already shows who owns the host name. Otherwise, every
// stack that a tenant adds would result in a reconcile of all its stacks with the same host name.
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
		owner := firstOf(stacks, host)
		for _, stack := range stacks {
			if !knowsOwner(stack, owner, host) {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(stack)})
			}
		}
	}
	return requests, nil
}

// firstOf returns the stack that takes precedence for a host name. Nil means that all of the stacks are being deleted.
func firstOf(stacks []*v1alpha2.LlamaStackDistribution, host string) *v1alpha2.LlamaStackDistribution {
	var owner *v1alpha2.LlamaStackDistribution
	for _, stack := range stacks {
		if stack.DeletionTimestamp == nil && (owner == nil || precedes(stack, owner, host)) {
			owner = stack
		}
	}
	return owner
}

// knowsOwner reports whether the status of a stack shows who owns its host name, so that a reconcile changes nothing.
// If a reconcile that has not ended yet exposes the stack, the change to the status results in another request.
func knowsOwner(stack, owner *v1alpha2.LlamaStackDistribution, host string) bool {
	if reached := reachedBy(stack, host); reached || owner == nil || owner == stack {
		return reached && owner == stack
	}
	exposed := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionExposed)
	taken := hostOwner{host: host, namespace: owner.Namespace, name: owner.Name}
	return exposed != nil && exposed.Reason == v1alpha2.ReasonHostnameTaken && exposed.Message == taken.message(stack)
}
