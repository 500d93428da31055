package controller

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// byHostname requeues the stacks whose host name another stack starts or stops requesting.
func (r *Reconciler) byHostname() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) { r.requeueHostOwners(ctx, q, e.Object) },
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) { r.requeueHostOwners(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			if e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() {
				r.requeueHostOwners(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
	}
}

func (r *Reconciler) requeueHostOwners(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], objects ...client.Object,
) {
	config, _, err := r.config.get(ctx)
	if err != nil {
		// The read of the ConfigMap fails only when the operator starts. Every stack is reconciled at that time.
		log.FromContext(ctx).V(1).Info("The operator's ConfigMap cannot be read yet", "error", err.Error())
		return
	}
	cluster := render.Cluster{Ingress: render.Ingress(config.Ingress)}
	for _, object := range objects {
		stack, ok := object.(*v1alpha2.LlamaStackDistribution)
		if !ok {
			continue
		}
		// The object that exposed the stack may no longer exist, so it is unknown which of the two forms of a generated host
		// name the stack had.
		for _, host := range slices.Compact([]string{
			plan.Hostname(stack, cluster, false),
			plan.Hostname(stack, cluster, true),
		}) {
			r.requeueOthers(ctx, queue, stack, host, cluster)
		}
	}
}

// requeueOthers requeues the other stacks with a host name.
func (r *Reconciler) requeueOthers(
	ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request],
	stack *v1alpha2.LlamaStackDistribution, host string, cluster render.Cluster,
) {
	if host == "" {
		return
	}
	others, err := r.stacksOf(ctx, host, cluster)
	if err != nil {
		log.FromContext(ctx).V(1).Info("Stacks cannot be listed yet", "error", err.Error())
	}
	for _, other := range others {
		if other.UID != stack.UID {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(other)})
		}
	}
}
