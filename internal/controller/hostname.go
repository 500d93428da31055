package controller

import (
	"context"
	"fmt"
	"net/url"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// findRival looks for a stack that has the same host name and goes before this
// one, which is then not exposed: traffic is not taken from whoever has it.
func (r *Reconciler) findRival(ctx context.Context, s *state) error {
	s.rival = nil
	host := plan.Hostname(s.object, s.cluster)
	if host == "" {
		return nil
	}
	var stacks v1alpha2.LlamaStackDistributionList
	if err := r.cache.List(ctx, &stacks, client.UnsafeDisableDeepCopy); err != nil { // only read
		return fmt.Errorf("list cached stacks: %w", err)
	}
	first := s.object
	for i := range stacks.Items {
		other := &stacks.Items[i]
		if other.UID != s.object.UID && other.DeletionTimestamp == nil && plan.Hostname(other, s.cluster) == host && goesBefore(other, first, host) {
			first = other
		}
	}
	if first != s.object {
		s.rival = &rival{host: host, namespace: first.Namespace, name: first.Name}
	}
	return nil
}

// rival is the stack that has a host name.
type rival struct{ host, namespace, name string }

// goesBefore says which of two stacks gets a host name: who is reached by it
// already, then who is older.
func goesBefore(a, b *v1alpha2.LlamaStackDistribution, host string) bool {
	if reachedBy(a, host) != reachedBy(b, host) {
		return reachedBy(a, host)
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

func reachedBy(stack *v1alpha2.LlamaStackDistribution, host string) bool {
	address, err := url.Parse(stack.Status.RouteURL)
	return err == nil && address.Host == host
}

// exposed ends a reconcile whose stack is not exposed although it should be. The
// message names no object of another namespace.
func (*Reconciler) exposed(_ context.Context, s *state) error {
	failure := &status.Failure{Condition: v1alpha2.ConditionServiceReady, Retry: status.OnReferenceChange}
	switch planned := s.planned; {
	case s.rival != nil:
		whose := "a stack of another namespace"
		if s.rival.namespace == s.object.Namespace {
			whose = fmt.Sprintf("stack %q", s.rival.name)
		}
		failure.Reason = v1alpha2.ReasonHostnameTaken
		failure.Message = fmt.Sprintf("spec.networking.expose: host name %q is taken by %s, and the server is not exposed: take another", s.rival.host, whose)
	case !planned.Exposure.Empty() && !planned.ExposureServed:
		failure.Reason = v1alpha2.ReasonExposureUnavailable
		failure.Message = fmt.Sprintf("spec.networking.expose: the server is not exposed: the cluster does not serve %s of %s yet",
			planned.Exposure.Kind, planned.Exposure.Group)
	default:
		failure.Reason, failure.Message = v1alpha2.ReasonExposureNotAccepted, s.notAccepted()
	}
	if failure.Message == "" {
		return nil
	}
	return failure
}

// notAccepted is why what exposes the stack does not; empty: nobody says so.
func (s *state) notAccepted() string {
	live := s.exposure()
	if live == nil {
		return ""
	}
	return status.NotAccepted(live)
}

// byHostname wakes the stacks with a host name that another stack takes or leaves.
func (r *Reconciler) byHostname() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e ctrlevent.CreateEvent, q queue) { r.wakeRivals(ctx, q, e.Object) },
		DeleteFunc: func(ctx context.Context, e ctrlevent.DeleteEvent, q queue) { r.wakeRivals(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e ctrlevent.UpdateEvent, q queue) {
			if e.ObjectOld.GetGeneration() != e.ObjectNew.GetGeneration() {
				r.wakeRivals(ctx, q, e.ObjectOld, e.ObjectNew)
			}
		},
	}
}

func (r *Reconciler) wakeRivals(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], objects ...client.Object) {
	config, _, err := r.config.get(ctx)
	if err != nil {
		// At the start of the operator, when every stack is reconciled anyway.
		log.FromContext(ctx).V(1).Info("Operator config cannot be read yet", "error", err.Error())
		return
	}
	cluster := render.Cluster{Ingress: render.Ingress(config.Ingress)}
	hosts := map[string]bool{}
	for _, object := range objects {
		if stack, ok := object.(*v1alpha2.LlamaStackDistribution); ok {
			hosts[plan.Hostname(stack, cluster)] = true
		}
	}
	if delete(hosts, ""); len(hosts) == 0 {
		return
	}
	for _, request := range r.stacksWhere(ctx, func(stack *v1alpha2.LlamaStackDistribution) bool {
		return hosts[plan.Hostname(stack, cluster)] && stack.UID != objects[0].GetUID()
	}) {
		queue.Add(request)
	}
}
